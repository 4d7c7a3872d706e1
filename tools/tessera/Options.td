// The flags of `tessera`, and the commands that take each.
include "llvm/Option/OptParser.td"

def Compile : OptionVisibility;
def Run : OptionVisibility;
def Bench : OptionVisibility;
def Explain : OptionVisibility;
def Cache : OptionVisibility;
def Devices : OptionVisibility;

class In<list<OptionVisibility> commands> {
  list<OptionVisibility> Visibility = commands;
}
defvar Every = [Compile, Run, Bench, Explain, Cache, Devices];
defvar Program = [Compile, Run, Bench, Explain];

class Switch<string name, list<OptionVisibility> commands, string help>
    : Flag<["--"], name>, In<commands>, HelpText<help>;

// --name=VALUE, or --name VALUE.
multiclass Value<string name, string value, list<OptionVisibility> commands,
                 string help, string values = ""> {
  def NAME : Joined<["--"], name#"=">, In<commands>, MetaVarName<value>,
             HelpText<help>, Values<values>;
  def NAME#_apart : Separate<["--"], name>, In<commands>,
                    Alias<!cast<Option>(NAME)>;
}

def help : Switch<"help", Every, "Print this text">;
def h : Flag<["-"], "h">, In<Every>, Alias<help>;

def o : JoinedOrSeparate<["-"], "o">, In<[Compile, Explain]>,
        MetaVarName<"FILE">,
        HelpText<"The file to write; - is the standard output">;
defm emit : Value<"emit", "KIND", [Compile],
  "What to write: trace, tensor, kernels, plan, loops, llvm, asm, obj, lib, "
  "so, exe or header; for a GPU, trace to loops, ptx or cubin; by default what "
  "the name of -o says, else obj or ptx",
  "trace,tensor,kernels,plan,loops,llvm,asm,obj,lib,so,exe,header,ptx,"
  "cubin">;
let HelpTextsForVariants = [HelpTextVariant<[Compile],
  "The stage that FILE is in: trace, tensor, kernels or plan, which FILE says "
  "by itself, or loops, llvm or asm, which are code">] in
defm from : Value<"from", "STAGE", Program,
  "The stage that FILE must be in: trace, tensor, kernels or plan; by default "
  "what FILE says",
  "trace,tensor,kernels,plan,loops,llvm,asm">;
let HelpTextsForVariants = [HelpTextVariant<[Explain],
  "The CPU to compile for: native (the default), x86-64, x86-64-v2, "
  "x86-64-v3, x86-64-v4, or a name such as znver4; or an NVIDIA GPU: sm_75, "
  "sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100 or sm_120">] in
defm target : Value<"target", "CPU,...", [Compile, Explain],
  "The CPU to compile for: native (the default), x86-64, x86-64-v2, "
  "x86-64-v3, x86-64-v4, or a name such as znver4; with several, a call "
  "takes the best that its CPU can run. Or one NVIDIA GPU: sm_75, sm_80, "
  "sm_86, sm_89, sm_90, sm_90a, sm_100 or sm_120",
  "native,x86-64,x86-64-v2,x86-64-v3,x86-64-v4,aarch64-linux-gnu,sm_75,sm_80,"
  "sm_86,sm_89,sm_90,sm_90a,sm_100,sm_120">;
defm name : Value<"name", "NAME", [Compile],
  "The name of the C function; by default that of the output file">;
defm header_file : Value<"header", "FILE", [Compile],
  "Where the C header goes; by default beside the object">;
defm weights : Value<"weights", "FILE", [Compile, Run, Bench],
  "The safetensors file of the weights; by default the one that FILE names">;
def pass_weights : Switch<"pass-weights", [Compile],
  "Weights are given to each call, instead of being part of the object">;
defm grad : Value<"grad", "NAME,...", Program,
  "Compute also the gradient of the first result by these arguments">;
defm shape : Value<"shape", "NAME=SIZExSIZE...", Program,
  "The shape of an argument with symbolic dimensions; ? leaves one open">;
def no_fuse : Switch<"no-fuse", Program,
  "One kernel for each operation; the results are the same bits">;
def no_lines : Switch<"no-lines", [Compile],
  "No line tables of the user's source">;
defm threads : Value<"threads", "N", Program,
  "Threads to compile and to compute with; by default one for each core">;
defm dump_to : Value<"dump", "DIR", Program,
  "Write every stage of the compilation into a folder">;
def time_report : Switch<"time-report", [Compile],
  "Print how long each step took">;
def time_report_as : Joined<["--"], "time-report=">, In<[Compile]>,
                     MetaVarName<"json">, Values<"json">,
                     HelpText<"The same as JSON">;
def size_report : Switch<"size-report", [Compile],
  "Print what the object consists of">;

defm input : Value<"input", "NAME=VALUE", [Run, Bench],
  "An argument's value: @FILE.npy, a number, random, or zeros; by default "
  "random numbers, or what the weights file holds">;
defm expect : Value<"expect", "NAME=@FILE.npy", [Run],
  "What a result must be: if it differs, the exit code is 3">;
defm output : Value<"output", "NAME=@FILE.npy", [Run],
  "Write a result to a file, instead of printing it">;
defm rtol : Value<"rtol", "X", [Run],
  "By how much numbers may differ, as a fraction of the expected one; "
  "1e-5 by default">;
defm atol : Value<"atol", "X", [Run],
  "By how much numbers may differ in any case; 1e-8 by default">;
defm device : Value<"device", "NAME", [Run, Bench],
  "Where to compute: cpu (the default), reference, the slow interpreter, a GPU, "
  "cuda:0, or one that is emulated, such as sim:sm_90",
  "cpu,reference,cuda:0,sim:sm_75,sim:sm_80,sim:sm_86,sim:sm_89,sim:sm_90,sim:sm_100,sim:sm_120">;
defm sim_check : Value<"sim-check", "LIST", [Run, Bench],
  "What the emulator looks for: a list of race, bounds and init, or all, or "
  "none (the default)",
  "race,bounds,init,all,none">;
defm seed : Value<"seed", "N", [Run, Bench],
  "Of the random inputs; 0 by default">;
defm repeat : Value<"repeat", "N", [Bench],
  "How often to call; by default for about a second">;
def time : Switch<"time", [Explain],
  "Measure each kernel, beside what the machine can do">;
def json : Switch<"json", [Bench, Explain, Devices, Cache],
  "Print as JSON">;
def clear : Switch<"clear", [Cache], "Remove every file of the cache">;
