// Forked workers that report through a pipe.
#include "test/Fuzz/Isolate.h"
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::fuzz {

[[noreturn]] static void work(const std::function<std::string()> &work, int out,
                              unsigned seconds) {
  alarm(seconds);
  if (int nowhere = open("/dev/null", O_WRONLY); nowhere >= 0) {
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
  }
  std::string text;
  try {
    text = work();
  } catch (const std::exception &error) {
    text = error.what();
  }
  for (size_t done = 0; done < text.size();) {
    ssize_t count = write(out, text.data() + done, text.size() - done);
    if (count < 0)
      break;
    done += size_t(count);
  }
  _exit(0); // destructors of the process are the parent's business
}

std::string isolated(const std::function<std::string()> &task,
                     unsigned seconds) {
  int ends[2];
  if (pipe(ends) != 0)
    throw std::runtime_error("no pipe for a worker");
  pid_t child = fork();
  if (child < 0)
    throw std::runtime_error("no process for a worker");
  if (child == 0) {
    close(ends[0]);
    work(task, ends[1], seconds);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, size_t(count));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    text += WTERMSIG(status) == SIGALRM
                ? "takes more than " + std::to_string(seconds) + " seconds"
                : std::string("crashes: ") + strsignal(WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0)
    text += "ends with exit code " + std::to_string(WEXITSTATUS(status));
  return text;
}

} // namespace tessera::fuzz
