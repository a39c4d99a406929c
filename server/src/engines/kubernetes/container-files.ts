import type { Account, ContainerFiles, FileStatus } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Pod } from './api-objects.ts'
import type { ClusterContext } from './cluster-context.ts'
import { findPod } from './container-lookup.ts'
import { openHelperBeside } from './helper-containers.ts'
import { objectName } from './labels.ts'
import { execInPod, framed, gateName, gateOf, outputOf, unpack } from './pod-exec.ts'
import { stateOf } from './pod-state.ts'
import { StartDeadlines } from './container-lifecycle.ts'

const pause = 250
/**
 * Account for a home that belongs to root, as a new claim does: the group of its pod, and the user that images mostly
 * have.
 */
const usualAccount: Account = { uid: 1000, gid: 1000 }

/** Kind of a file by the first digit of its mode. Source: inode(7). */
const kinds: ReadonlyMap<number, FileStatus['kind']> = new Map([
  [0o10, 'file'],
  [0o04, 'folder'],
  [0o12, 'link'],
])

/**
 * Files of a pod that waits for them, by commands in its gate, which has the home at the same path; or of one that runs, in a
 * helper beside it, which has nothing else: where its program exchanges folders for links meanwhile, they lead to nothing but files
 * of the helper.
 */
export function containerFiles(cluster: ClusterContext): ContainerFiles {
  const helpers = new HelpersBeside(cluster)
  const within = async (id: string, what: string, command: readonly string[], signal: AbortSignal) => ({
    ...(await helpers.placeIn(await untilReachable(cluster, id, signal), signal)),
    what: `${what} of ${id}`,
    command,
    signal,
  })
  const ask = async (id: string, what: string, command: readonly string[], signal: AbortSignal) =>
    outputOf(cluster, await within(id, what, command, signal))
  return {
    // A command that is broken off has no result, so each call fails by itself.
    begin: async (volume) => ({ requireWhole: async () => undefined, leave: helpers.begin(volume) }),
    status: async (id, path, signal) => statusIn(await ask(id, `look at ${path}`, statusOfFile(path), signal)),
    linkTarget: (id, path, signal) => ask(id, `read ${path}`, ['readlink', '-n', path], signal),
    read: async function* (id, path, signal) {
      yield* execInPod(cluster, await within(id, `read ${path}`, ['cat', path], signal))
    },
    accountFor: async (id, folder, signal) => {
      const [uid = 0, gid = 0] = (await ask(id, `look at ${folder}`, ['stat', '-c', '%u %g', folder], signal))
        .split(' ')
        .map(Number)
      return uid === 0 ? usualAccount : { uid, gid }
    },
    write: async (id, folder, archive, signal) => {
      const call = await within(id, `write to ${folder}`, unpack(folder), signal)
      await outputOf(cluster, { ...call, input: framed(archive) })
    },
  }
}

/** Prints nothing for what is not there. */
const statusOfFile = (path: string): readonly string[] => [
  'sh',
  '-c',
  'if [ -e "$1" ] || [ -L "$1" ]; then stat -c "%f %s" "$1"; fi',
  'sh',
  path,
]

function statusIn(output: string): FileStatus | undefined {
  const [raw = '', size = ''] = output.trim().split(' ')
  if (raw === '') return undefined
  const mode = Number.parseInt(raw, 16)
  return { kind: kinds.get(mode >> 12) ?? 'other', size: Number(size), mode: mode & 0o777 }
}

type Beside = Awaited<ReturnType<typeof openHelperBeside>>

/** Helpers beside pods that run, one for each home, which go when the last work on it leaves. */
class HelpersBeside {
  readonly #cluster: ClusterContext
  /** By the claim of the home. */
  readonly #begun = new Map<string, { readonly volume: string; works: number; helper?: Promise<Beside> }>()

  constructor(cluster: ClusterContext) {
    this.#cluster = cluster
  }

  /** @returns leaves */
  begin(volume: string): () => void {
    const claim = objectName(volume) ?? ''
    const work = this.#begun.get(claim) ?? { volume, works: 0 }
    this.#begun.set(claim, work)
    work.works++
    return () => {
      if (--work.works > 0) return
      this.#begun.delete(claim)
      // What is left ends by itself after a minute.
      work.helper?.then((helper) => helper.end()).catch(() => undefined)
    }
  }

  /** Where commands have the home of a pod. @throws {RuntimeError} as `withHomeHelper` */
  async placeIn(pod: Pod, signal: AbortSignal): Promise<{ readonly pod: string; readonly container: string }> {
    if (gateOf(pod)?.state?.running) return { pod: pod.metadata.name, container: gateName }
    const { volumes = [], containers = [] } = pod.spec ?? {}
    const claimOf = ({ persistentVolumeClaim: claim }: (typeof volumes)[number]) => claim?.claimName ?? ''
    const home = volumes.find((each) => this.#begun.has(claimOf(each)))
    const work = home && this.#begun.get(claimOf(home))
    const mount = containers.flatMap(({ volumeMounts = [] }) => volumeMounts).find(({ name }) => name === home?.name)
    if (!work || !mount)
      throw new RuntimeError('failed', `put files into ${pod.metadata.name}: it does not have the home`)
    work.helper ??= openHelperBeside(this.#cluster, work.volume, mount.mountPath, signal)
    const { pod: name, container } = await work.helper
    return { pod: name, container }
  }
}

/**
 * Waits until commands can run in the gate of a pod, or its app runs.
 * @throws {RuntimeError} when they never will
 */
async function untilReachable(cluster: ClusterContext, id: string, signal: AbortSignal): Promise<Pod> {
  const deadlines = new StartDeadlines(cluster.timeouts)
  const follower = cluster.index.follow(id)
  try {
    for (let told: Pod | undefined; ;) {
      const pod = told ?? (await findPod(cluster, id, signal))
      if (!pod) throw new RuntimeError('missing', `put files into ${id}`)
      if (gateOf(pod)?.state?.running || stateOf(pod) === 'running') return pod
      const failure = deadlines.failureOf(pod)
      if (failure) throw failure
      if (stateOf(pod) !== 'created')
        throw new RuntimeError('failed', `put files into ${pod.metadata.name}: it does not wait for them`)
      told = await follower.next(pause, signal)
      signal.throwIfAborted()
    }
  } finally {
    follower.end()
  }
}
