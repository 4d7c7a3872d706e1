// Each stage of a program, read back from its text, leads to the same bits, and
// each stage of a kernel to the same object.
#include "dialects/Tessera/IR/Tessera.h"
#include "lowering/CodeGen/CompileKernels.h"
#include "lowering/Compiler.h"
#include "lowering/Math/ExpandMath.h"
#include "lowering/Pipeline.h"
#include "mlir/Parser/Parser.h"
#include "runtime/Executable.h"
#include "test/Unit/Lowering/Programs.h"
#include "gtest/gtest.h"
#include <map>
#include <random>

using namespace mlir;
using namespace tessera::lowering;
using tessera::test::Program;
namespace runtime = tessera::runtime;

namespace {

using Bits = std::vector<std::vector<uint8_t>>;
using Texts = std::map<std::pair<Stage, std::string>, std::string>;

struct CarryOn : testing::Test {
  CarryOn() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<tessera::ir::TesseraDialect, func::FuncDialect>();
  }

  OwningOpRef<ModuleOp> parse(llvm::StringRef text) {
    auto module =
        parseSourceString<ModuleOp>(text, ParserConfig(&context), "stage");
    EXPECT_TRUE(module);
    return module;
  }

  /// Compiles past every cache, keeping each stage.
  std::shared_ptr<runtime::Executable> build(ModuleOp module, Texts &texts) {
    ProgramOptions options;
    options.observe = [&](Stage stage, llvm::StringRef kernel,
                          llvm::StringRef text) {
      texts[{stage, kernel.str()}] = text.str();
    };
    std::string error;
    auto executable = compile(module, options, error);
    EXPECT_TRUE(succeeded(executable)) << error;
    return succeeded(executable) ? *executable : nullptr;
  }

  /// Why a text is refused.
  std::string errorOf(llvm::StringRef text) {
    auto module = parse(text);
    std::string error;
    EXPECT_TRUE(failed(compile(*module, {}, error)));
    return error;
  }

  MLIRContext context;
};

/// Inputs of numbers between -2 and 2, or of 0 and 1 where they are integers.
Bits run(const runtime::Executable &executable) {
  std::mt19937 random(5);
  std::vector<runtime::Storage> inputs,
      outputs(executable.info().outputs.size());
  for (const runtime::BufferInfo &info : executable.info().inputs) {
    inputs.push_back(runtime::Storage::allocate(info.bytes));
    if (info.dtype == runtime::DType::f32)
      for (size_t i = 0; i < info.bytes / 4; ++i)
        static_cast<float *>(inputs.back().data())[i] =
            std::uniform_real_distribution<float>(-2, 2)(random);
    else
      for (size_t i = 0; i < info.bytes; ++i)
        static_cast<uint8_t *>(inputs.back().data())[i] = random() % 2;
  }
  EXPECT_TRUE(executable.run(inputs, outputs).ok());
  Bits bits;
  for (auto [info, storage] : llvm::zip(executable.info().outputs, outputs)) {
    auto *data = static_cast<const uint8_t *>(storage.data());
    bits.emplace_back(data, data + info.bytes);
  }
  return bits;
}

TEST_F(CarryOn, programsFromEachStage) {
  for (const Program &program : tessera::test::programs()) {
    SCOPED_TRACE(program.name);
    Texts texts;
    auto module = parse(program.trace);
    auto executable = build(*module, texts);
    ASSERT_TRUE(executable);
    Bits expected = run(*executable);
    for (Stage stage :
         {Stage::trace, Stage::tensor, Stage::kernels, Stage::plan}) {
      SCOPED_TRACE(nameOf(stage).str());
      const std::string &text = texts[{stage, ""}];
      ASSERT_FALSE(text.empty());
      Texts again;
      auto parsed = parse(text);
      auto carriedOn = build(*parsed, again);
      ASSERT_TRUE(carriedOn);
      EXPECT_EQ(run(*carriedOn), expected);
      for (auto &[key, laterText] : again)
        EXPECT_TRUE(laterText == texts[key])
            << "another text: " << nameOf(key.first).str() << " " << key.second;
    }
  }
}

TEST_F(CarryOn, kernelsFromLoopsAndLLVM) {
  TargetInfo target = hostTarget();
  for (const Program &program : tessera::test::programs()) {
    SCOPED_TRACE(program.name);
    Texts texts;
    auto module = parse(program.trace);
    build(*module, texts);
    KernelCompileOptions options;
    options.target = target;
    options.expandMath = expandKernelMath;
    options.dump = [](const KernelJob &, DumpStage, llvm::StringRef) {};
    auto jobs = kernelJobs(mainFunction(*module), target);
    ASSERT_FALSE(jobs.empty());
    auto objects = llvm::cantFail(compileKernelObjects(jobs, options));
    for (auto [job, object] : llvm::zip(jobs, objects))
      for (Stage stage : {Stage::loops, Stage::llvm}) {
        auto text = texts.find({stage, job.name});
        if (text == texts.end())
          continue; // the same as an earlier one
        auto bytes = compileKernel(
            llvm::MemoryBufferRef(text->second, job.name), stage, target);
        ASSERT_TRUE(bool(bytes)) << llvm::toString(bytes.takeError());
        EXPECT_TRUE(*bytes == object.bytes)
            << job.name << " from " << nameOf(stage).str();
      }
  }
}

TEST_F(CarryOn, kernelsThatDoNotCompile) {
  TargetInfo target = hostTarget();
  auto errorOf = [&](llvm::StringRef text, Stage stage) {
    auto object =
        compileKernel(llvm::MemoryBufferRef(text, "some.txt"), stage, target);
    return object ? "" : llvm::toString(object.takeError());
  };
  auto begins = [&](const char *text, Stage stage, llvm::StringRef with) {
    std::string error = errorOf(text, stage);
    EXPECT_TRUE(llvm::StringRef(error).starts_with(with)) << error;
  };
  begins("\nfunc.func @f(", Stage::loops, "some.txt:2:13: error: ");
  begins("func.func @f() { return loc(\"/dev/zero\":1:1) }\nx", Stage::loops,
         "some.txt:2:1: error: ");
  begins("define void @f(", Stage::llvm, "some.txt:1:16: error: ");
  begins("define i64 @f() {\n br label %b\nb:\n %x = add i64 %x, 1\n"
         " ret i64 %x }",
         Stage::llvm, "some.txt: error: ");
  EXPECT_NE(errorOf("", Stage::plan).find("not from the plan stage"),
            std::string::npos);
}

constexpr llvm::StringRef kKernel = R"(
    %0 = tessera.kernel loop(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %1 = tessera.exp %a : tensor<4xf32>
      tessera.yield %1 : tensor<4xf32>
    })";

std::string program(llvm::StringRef attributes, llvm::StringRef body,
                    llvm::StringRef arena = "") {
  return ("module attributes {" + attributes +
          "} { func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> " + arena +
          " {" + body + "\n return %0 : tensor<4xf32> } }")
      .str();
}

TEST_F(CarryOn, modulesThatFitNoStage) {
  auto expect = [&](const std::string &text, llvm::StringRef part) {
    std::string error = errorOf(text);
    EXPECT_NE(error.find(part), std::string::npos) << error;
  };
  std::string exp = "%0 = tessera.exp %x : tensor<4xf32>";
  std::string softmax = "%0 = tessera.softmax %x {dim = 0 : i64} : "
                        "tensor<4xf32> -> tensor<4xf32>";
  expect("module {}", "a program is a function named main");
  expect("func.func private @main()", "a program is a function named main");
  expect("func.func @main(%x: tensor<4xi7>) { return }", "static shape");
  expect("func.func @main(%x: f32) { return }", "and not 'f32'");
  expect("func.func @main(%x: tensor<4xcomplex<f32>>) { return }",
         "and not 'tensor<4xcomplex<f32>>'");
  expect(program("tessera.stage = \"loops\"", exp),
         "is one of a kernel, not of a program");
  expect(program("tessera.stage = \"later\"", exp), "\"later\"");
  expect(program("tessera.stage = 3", exp), "`tessera.stage` is 3");
  expect(program("tessera.stage = \"tensor\"", softmax), "is a composite");
  expect(program("tessera.stage = \"trace\"", kKernel),
         "does not belong into the trace stage");
  expect(program("tessera.stage = \"kernels\"", exp),
         "stands outside the kernels");
  expect(program("", (kKernel + "%3 = tessera.exp %0 : tensor<4xf32>").str()),
         "stands outside the kernels");
  expect(program("tessera.stage = \"plan\"", kKernel), "the size of the arena");
  expect(program("", kKernel, "attributes {tessera.arena = 0}"),
         "only kernels with places");
  auto placed = [&](llvm::StringRef place) {
    std::string text = program("", kKernel, "attributes {tessera.arena = 64}");
    size_t at = text.find(" : (tensor<4xf32>) ->");
    return text.insert(
        at, (" attributes {places = [#tessera.place<" + place + ">]}").str());
  };
  expect(placed("result, 1"), "an output that its place does not hold");
  expect(placed("arena, 64"), "an output that its place does not hold");
  expect(placed("arena, 0"), "no kernel writes result 0");
  // With the right place it is a plan.
  std::string error;
  auto module = parse(placed("result, 0"));
  EXPECT_TRUE(succeeded(compile(*module, {}, error))) << error;
}

} // namespace
