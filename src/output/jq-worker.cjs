// Runs jq in a thread of its own, which can be ended while an expression runs. Plain JavaScript: Node starts it from the sources too.
const { parentPort, workerData } = require('node:worker_threads');
const { loadJq } = require('jq-wasm');

// The expression follows, and is no option even if it begins with a dash. Not raw: jq-wasm cuts blanks and empty lines off at both ends.
const flags = ['-c', '--'];

void loadJq().then((jq) => {
  parentPort?.on('message', (/** @type {string} */ json) => parentPort?.postMessage(answerTo(json)));

  /** @param {string} json */
  function answerTo(json) {
    try {
      return jq.raw(json, workerData, flags);
    } catch {
      // A recursion overflows the stack, or a value does not fit: WebAssembly aborts.
      return { stdout: '', stderr: 'the expression needs too much memory', exitCode: 5 };
    }
  }
});
