// A progress bar on the standard error output, which stays silent when that is
// no terminal.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace digits {

class Progress {
public:
  /// A bar for `total` steps of `imagesPerStep` images each.
  Progress(size_t total, size_t imagesPerStep)
      : Progress(total, imagesPerStep,
                 ::isatty(STDERR_FILENO) && !dumbTerminal(), stderr) {}
  /// As above, to any stream; for tests.
  Progress(size_t total, size_t imagesPerStep, bool shown, std::FILE *out)
      : total(total), imagesPerStep(imagesPerStep), shown(shown), out(out),
        start(Clock::now()), drawn(start) {}
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  ~Progress() { clear(); }

  /// Whether anything is drawn: computing a loss only to show it can be left
  /// out otherwise.
  bool visible() const { return shown; }

  /// Counts a step. Draws at most ten times a second, so that it costs nothing
  /// beside short steps.
  void step(double loss) {
    ++done;
    Clock::time_point now = Clock::now();
    if (!shown ||
        (now - drawn < std::chrono::milliseconds(100) && done < total))
      return;
    drawn = now;
    draw(loss, std::chrono::duration<double>(now - start).count());
  }

  /// Removes the bar, so that other text can be printed in its line.
  void clear() {
    if (std::exchange(onScreen, false))
      std::fputs("\r\033[K", out);
  }

private:
  using Clock = std::chrono::steady_clock;

  static bool dumbTerminal() {
    const char *terminal = std::getenv("TERM");
    return terminal && std::string_view(terminal) == "dumb";
  }

  size_t columns() const {
    winsize size{};
    return ::ioctl(::fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0
               ? size.ws_col
               : 80;
  }

  void draw(double loss, double elapsed) {
    double part = total > 0 ? std::min(1.0, static_cast<double>(done) /
                                                static_cast<double>(total))
                            : 1;
    double rate =
        elapsed > 0 ? static_cast<double>(done * imagesPerStep) / elapsed : 0;
    char tail[128];
    std::snprintf(tail, sizeof tail, " %3.0f%%  loss %.4f  %.0f images/s",
                  part * 100, loss, rate);
    // A line that wraps could not be overwritten, so the bar takes what the
    // terminal leaves, and may vanish.
    size_t room = columns(), used = std::string_view(tail).size() + 3;
    std::string bar;
    if (room > used + 8) {
      size_t width = std::min<size_t>(room - used, 40);
      auto full = static_cast<size_t>(part * static_cast<double>(width));
      bar = "[" + std::string(full, '#') + std::string(width - full, '.') + "]";
    }
    std::fprintf(out, "\r%s%.*s\033[K", bar.c_str(),
                 static_cast<int>(room > 1 ? room - 1 : 1), tail);
    std::fflush(out);
    onScreen = true;
  }

  size_t total, imagesPerStep, done = 0;
  bool shown, onScreen = false;
  std::FILE *out;
  Clock::time_point start, drawn;
};

} // namespace digits
