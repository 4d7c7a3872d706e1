// The stages work on a program, which is a function named main.
// RUN: not tessera-opt %s -tessera-to-tensor 2>&1 | FileCheck %s
// CHECK: error: a program is a function named main of one block
func.func @other() {
  return
}
