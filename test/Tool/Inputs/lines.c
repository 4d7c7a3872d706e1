/* One call, for a debugger. */
#include "lines.h"

int main(void) {
  float x[LINES_X_ELEMENTS] = {1}, y[LINES_Y_ELEMENTS];
  struct lines_buffers buffers = {x, y};
  return lines(&buffers, NULL, NULL);
}
