import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { test, type TestContext } from 'node:test'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import type { RouteListener } from '#/containers/routes/route-sync.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { SilentFileSystem } from '#/machine/answering-paths.ts'
import { HomeFolderWatch } from './home-folder-watch.ts'

/** What the card says of a home on a file server while its container runs. `npm run test:nfs` has a real server. */
function arrange(t: TestContext) {
  const root = mkdtempSync(path.join(tmpdir(), 'berth-watch-'))
  t.after(() => rmSync(root, { recursive: true }))
  const homeOf = (slug: string) => path.join(root, slug)
  mkdirSync(homeOf('ann'))
  const template = { home: '/home/berth', homeSource: { path: `${root}/{slug}`, create: null } }
  const container = { prefix: 'ann-dev', userId: 7, type: 'dev', containerId: 'c1' } as ContainerState
  const state = {
    isSilent: false,
    says: '',
    asked: 0,
    changes: 0,
    engine: undefined as RuntimeError | undefined,
    error: undefined as Error | undefined,
  }
  let listener: Partial<RouteListener> | undefined
  const watch = new HomeFolderWatch({
    templates: { all: () => [template], get: () => template } as never,
    routeSync: {
      running: function* () {
        yield { known: container, isPaused: false }
      },
      onChange: (given: Partial<RouteListener>) => void (listener = given),
    } as never,
    runtime: {
      exec: async () => {
        state.asked++
        if (state.engine) throw state.engine
        const stream = new PassThrough()
        stream.end()
        return { stream, ended: Promise.resolve({ code: 10, errors: state.says }) }
      },
    },
    answering: {
      ask: async (_, question) => {
        if (state.isSilent) throw new SilentFileSystem(root)
        if (state.error) throw state.error
        return question()
      },
    },
    onChange: () => void state.changes++,
    log: { info: () => undefined, warn: () => undefined } as never,
  })
  const restart = () => listener?.onStatus?.(container, 'asleep')
  const look = async () => {
    await watch.look()
    return watch.faultOf(container)
  }
  const replaceFolder = () => {
    renameSync(homeOf('ann'), homeOf('before'))
    mkdirSync(homeOf('ann'))
  }
  return { watch, state, look, restart, replaceFolder }
}

const staleHandle = '/home/berth/.berth-look: Stale file handle'

test('a container is asked once, and again when the folder of this machine is another', async (t) => {
  const { state, look, replaceFolder } = arrange(t)
  assert.equal(await look(), undefined)
  assert.equal(await look(), undefined)
  assert.equal(state.asked, 1)
  replaceFolder()
  state.says = staleHandle
  assert.equal(await look(), 'stale')
  assert.deepEqual([state.asked, state.changes], [2, 1])
})

test('what is stale stays so until the container is started anew', async (t) => {
  const { state, look, restart, replaceFolder } = arrange(t)
  state.says = staleHandle
  assert.equal(await look(), 'stale')
  state.isSilent = true
  assert.equal(await look(), 'stale')
  state.isSilent = false
  assert.equal(await look(), 'stale')
  assert.equal(state.asked, 1)
  restart()
  replaceFolder()
  state.says = 'Connection refused'
  assert.equal(await look(), undefined)
})

test('what is stale on this machine is stale in the container, which need not be asked', async (t) => {
  const { state, look } = arrange(t)
  state.error = Object.assign(new Error('unknown error'), { errno: -116 })
  assert.equal(await look(), 'stale')
  assert.equal(state.asked, 0)
})

test('where no program can be started, because its working directory is stale, the home is', async (t) => {
  const { state, look } = arrange(t)
  const cause = new Error('chdir to cwd ("/home/berth") set in config.json failed: stale NFS file handle: unknown')
  state.engine = new RuntimeError('failed', 'exec', cause)
  assert.equal(await look(), 'stale')
})

test('a server that is away is told until it is back, and nothing in the container is asked meanwhile', async (t) => {
  const { state, look } = arrange(t)
  assert.equal(await look(), undefined)
  state.isSilent = true
  assert.equal(await look(), 'silent')
  assert.equal(state.asked, 1)
  state.isSilent = false
  assert.equal(await look(), undefined)
  assert.deepEqual([state.asked, state.changes], [1, 2])
})

test('an engine that cannot ask now is asked at the next look', async (t) => {
  const { state, look } = arrange(t)
  state.engine = new RuntimeError('unreachable', 'exec')
  assert.equal(await look(), undefined)
  state.engine = undefined
  state.says = staleHandle
  assert.equal(await look(), 'stale')
})
