// Runs jq in a thread of its own, which can be ended while an expression runs. Plain JavaScript: Node starts it from
// the sources too.
const { parentPort, workerData: data } = require('node:worker_threads');
const { loadJq } = require('jq-wasm');

/** @type {{ expression: string, mostBytes: number }} */
const { expression, mostBytes } = data;

// The expression follows, and is no option even if it begins with a dash. Not raw: jq-wasm cuts blanks and empty lines
// off at both ends.
const flags = ['-c', '--'];

const tooMuch = { stdout: '', stderr: 'the expression needs too much memory', exitCode: 5 };

let isTold = false;

// Results are collected in arrays that double, which the limits of a thread do not count. jq takes an error of such an
// array for a failed write, and goes on: a message lets the other thread end this one.
globalThis.Uint8Array = new Proxy(Uint8Array, {
  construct(Bytes, /** @type {unknown[]} */ given, target) {
    const isTooLong = Number(given[0]) > mostBytes;
    if (isTooLong && !isTold) parentPort?.postMessage(tooMuch);
    isTold ||= isTooLong;
    return Reflect.construct(Bytes, isTooLong ? [0] : given, target);
  },
});

void loadJq().then((jq) => {
  parentPort?.on('message', (/** @type {string} */ json) => parentPort?.postMessage(answerTo(json)));

  /** @param {string} json */
  function answerTo(json) {
    try {
      return jq.raw(json, expression, flags);
    } catch {
      // A recursion overflows the stack, or a value does not fit: WebAssembly aborts.
      return tooMuch;
    }
  }
});
