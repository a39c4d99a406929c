/**
 * Loaded before each test file (`--import`): Node's runner finds with less work the test that a hook, a subtest or an
 * uncaught error belongs to. By itself it notes for each asynchronous resource, every promise included, the test in which
 * it began, by a hook of `async_hooks`, and has the garbage collector tell of the end of each: a fifth of the CPU time of
 * a test process. Here the test travels with the asynchronous context instead (`AsyncLocalStorage`), which V8 carries
 * along by itself.
 *
 * The runner takes what it needs from `async_hooks` when it is loaded; until then its names lead to what is here. Where a
 * version of Node has another runner, that finds its tests as it does without this module.
 */
import hooks, { AsyncLocalStorage, AsyncResource, executionAsyncId } from 'node:async_hooks'
import { isTestFile } from './record-cost.mjs'

/** The resource of the test, suite or hook that runs: the runner knows it by its id. */
const scope = new AsyncLocalStorage()

/** The runner's own, which notes a test. @type {import('node:async_hooks').HookCallbacks['init']} */
let noteTest

/** What the runner's tests are, each of which calls what it runs by `runInAsyncScope`. */
class ScopedResource extends AsyncResource {
  /** @param {string} type @param {import('node:async_hooks').AsyncResourceOptions} [options] */
  constructor(type, options) {
    super(type, options)
    noteTest?.(this.asyncId(), type, this.triggerAsyncId(), this)
  }

  /** @override @type {AsyncResource['runInAsyncScope']} */
  runInAsyncScope(work, self, ...args) {
    // Inside, for the resource brings the context with it that it was made in.
    return super.runInAsyncScope(() => scope.run(this, () => Reflect.apply(work, self, args)))
  }
}

async function loadRunner() {
  const own = { createHook: hooks.createHook, executionAsyncId, AsyncResource }
  Object.assign(hooks, {
    createHook: (/** @type {import('node:async_hooks').HookCallbacks} */ { init }) => {
      noteTest = init
      return { enable: () => undefined, disable: () => undefined }
    },
    executionAsyncId: () => scope.getStore()?.asyncId() ?? executionAsyncId(),
    AsyncResource: ScopedResource,
  })
  try {
    await import('node:test')
  } finally {
    Object.assign(hooks, own)
  }
}

// Programs that tests fork inherit this module.
if (isTestFile) await loadRunner()
