// Trains a classifier of handwritten digits: a multi-layer perceptron and Adam.
#include "examples/digits/Chart.h"
#include "examples/digits/Dataset.h"
#include "examples/digits/Progress.h"
#include <tessera/tessera.h>

#include <charconv>
#include <fstream>
#include <iostream>
#include <numeric>
#include <random>

using namespace tessera;
using digits::Dataset;

namespace {

struct Mlp : nn::Module {
  nn::Linear a{64, 256}, b{256, 256}, c{256, 10};
  Tensor operator()(const Tensor &x) { return c(relu(b(relu(a(x))))); }
  TESSERA_TREE(Mlp, a, b, c)
};

struct Options {
  size_t epochs = 25;
  bool lazy = false; ///< train step by step instead of through jit
  Device device;     ///< of all tensors
  std::string data = DIGITS_CSV, out = ".";
  /// A folder for the programs of training and of inference, and for the images
  /// in the order of training: what train.c works on.
  std::string exported;
};

constexpr size_t kTrain = 1437, kBatch = 128;

Tensor images(const Dataset &data) {
  return Tensor::from(data.pixels, {int64_t(data.size()), 64});
}
Tensor labels(const Dataset &data) {
  return Tensor::from(data.labels, {int64_t(data.size())});
}

size_t parseCount(const std::string &flag, const std::string &text) {
  size_t count = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count == 0)
    throw std::invalid_argument(flag + " needs a positive number, not '" +
                                text + "'");
  return count;
}

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string flag = argv[i], given;
    size_t equals = flag.find('=');
    if (equals != std::string::npos) {
      given = flag.substr(equals + 1);
      flag.resize(equals);
    }
    auto value = [&] {
      if (equals != std::string::npos)
        return given;
      if (++i == argc)
        throw std::invalid_argument(flag + " needs a value");
      return std::string(argv[i]);
    };
    if (flag == "--epochs")
      options.epochs = parseCount(flag, value());
    else if (flag == "--lazy")
      options.lazy = true;
    else if (flag == "--device")
      options.device = Device(value());
    else if (flag == "--data")
      options.data = value();
    else if (flag == "--out")
      options.out = value();
    else if (flag == "--export")
      options.exported = value();
    else
      throw std::invalid_argument("unknown flag " + flag +
                                  "; there are --epochs N, --lazy, --device "
                                  "DEVICE, --data FILE, --out FOLDER, --export "
                                  "FOLDER");
  }
  return options;
}

void write(const std::string &path, const std::string &text) {
  if (!(std::ofstream(path) << text).flush())
    throw std::runtime_error(path + ": cannot be written");
  std::cout << "wrote " << path << "\n";
}

double accuracy(Mlp &model, const Dataset &data,
                digits::Confusion *confusion = nullptr) {
  auto guesses = argmax(model(images(data)), -1).to_vector<int64_t>();
  size_t right = 0;
  for (size_t i = 0; i < data.size(); ++i) {
    right += guesses[i] == data.labels[i];
    if (confusion)
      ++(*confusion)[size_t(data.labels[i])][size_t(guesses[i])];
  }
  return double(right) / double(data.size());
}

/// Collects the batches of all epochs, one after the other, and writes them.
class Batches {
public:
  explicit Batches(std::string folder) : folder(std::move(folder)) {}
  void add(const Dataset &batch) {
    if (folder.empty())
      return;
    pixels.insert(pixels.end(), batch.pixels.begin(), batch.pixels.end());
    labels.insert(labels.end(), batch.labels.begin(), batch.labels.end());
  }
  void save() {
    if (folder.empty())
      return;
    int64_t steps = int64_t(labels.size() / kBatch), batch = kBatch;
    io::save_npy(folder + "/images.npy",
                 Tensor::from(pixels, {steps, batch, 64}));
    io::save_npy(folder + "/labels.npy", Tensor::from(labels, {steps, batch}));
  }

private:
  std::string folder;
  std::vector<float> pixels;
  std::vector<int32_t> labels;
};

int run(const Options &options) {
  set_default_device(options.device);
  Dataset all = digits::readDigits(options.data);
  if (all.size() <= kTrain)
    throw std::runtime_error(options.data + ": needs more than " +
                             std::to_string(kTrain) + " images, and has " +
                             std::to_string(all.size()));
  // The file has one writer after another; mixed, each half sees all of them.
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 shuffler(7);
  std::shuffle(order.begin(), order.end(), shuffler);
  all = all.pick(order);
  Dataset train = all.slice(0, kTrain), test = all.slice(kTrain, all.size());

  random::seed(1);
  Mlp model;
  optim::Adam adam({.lr = 1e-3f});
  auto step = [&](Tensor x, Tensor y) {
    auto [loss, grads] =
        value_and_grad([&](Mlp &m) { return cross_entropy(m(x), y); })(model);
    adam.step(model, grads);
    return loss;
  };
  auto compiled = jit(step);
  Batches batches(options.exported);
  if (!options.exported.empty()) {
    Dataset first = train.slice(0, kBatch);
    export_program(options.exported + "/step.mlir",
                   {.arguments = {"images", "labels"}, .results = {"loss"}},
                   step, images(first), labels(first));
  }

  order.resize(train.size());
  std::iota(order.begin(), order.end(), 0);
  size_t steps = train.size() / kBatch;
  std::vector<digits::Epoch> epochs;
  digits::Progress progress(options.epochs * steps, kBatch);
  for (size_t epoch = 0; epoch < options.epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), shuffler);
    double sum = 0;
    for (size_t i = 0; i < steps; ++i) {
      Dataset batch = train.pick({order.begin() + ptrdiff_t(i * kBatch),
                                  order.begin() + ptrdiff_t((i + 1) * kBatch)});
      batches.add(batch);
      Tensor x = images(batch), y = labels(batch);
      Tensor loss = options.lazy ? step(x, y) : compiled(x, y);
      if (options.lazy)
        eval(std::tuple(loss, model.state_dict(), adam.state_dict()));
      sum += loss.item<double>();
      progress.step(loss.item<double>());
    }
    epochs.push_back({sum / double(steps), accuracy(model, test)});
  }
  progress.clear();

  digits::Confusion confusion = {};
  double reached = accuracy(model, test, &confusion);
  write(options.out + "/digits-learning-curve.svg",
        digits::learningCurve(epochs));
  write(options.out + "/digits-confusion.svg",
        digits::confusionMatrix(confusion));
  std::string weights = options.out + "/digits.safetensors";
  io::save(weights, model);
  std::cout << "wrote " << weights << "\n";
  batches.save();
  if (!options.exported.empty())
    export_program(options.exported + "/classify.mlir",
                   {.arguments = {"image"}, .results = {"logits"}}, model,
                   images(test.slice(0, 1)));

  Mlp loaded;
  loaded.load_state_dict(io::load(weights));
  if (accuracy(loaded, test) != reached)
    throw std::runtime_error("the weights in " + weights +
                             " do not give the same accuracy");
  std::printf("final loss: %.4f\ntest accuracy: %.4f\n", epochs.back().loss,
              reached);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::invalid_argument &error) {
    std::cerr << "digits: " << error.what() << "\n";
    return 2;
  } catch (const std::exception &error) {
    std::cerr << "digits: " << error.what() << "\n";
    return 1;
  }
}
