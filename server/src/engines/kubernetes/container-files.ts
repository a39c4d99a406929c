import type { Account, ContainerFiles, FileStatus } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Pod } from './api-objects.ts'
import type { ClusterContext } from './cluster-context.ts'
import { findPod } from './container-lookup.ts'
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

/** Files of a pod that waits for them: commands in its gate, which has the home at the same path. */
export function containerFiles(cluster: ClusterContext): ContainerFiles {
  const inGate = async (id: string, what: string, command: readonly string[], signal: AbortSignal) => ({
    what: `${what} of ${id}`,
    pod: await untilGated(cluster, id, signal),
    container: gateName,
    command,
    signal,
  })
  const ask = async (id: string, what: string, command: readonly string[], signal: AbortSignal) =>
    outputOf(cluster, await inGate(id, what, command, signal))
  return {
    // A command that is broken off has no result, so each call fails by itself.
    begin: async () => ({ requireWhole: async () => undefined, leave: () => undefined }),
    status: async (id, path, signal) => statusIn(await ask(id, `look at ${path}`, statusOfFile(path), signal)),
    linkTarget: (id, path, signal) => ask(id, `read ${path}`, ['readlink', '-n', path], signal),
    read: async function* (id, path, signal) {
      yield* execInPod(cluster, await inGate(id, `read ${path}`, ['cat', path], signal))
    },
    accountFor: async (id, folder, signal) => {
      const [uid = 0, gid = 0] = (await ask(id, `look at ${folder}`, ['stat', '-c', '%u %g', folder], signal))
        .split(' ')
        .map(Number)
      return uid === 0 ? usualAccount : { uid, gid }
    },
    write: async (id, folder, archive, signal) => {
      const call = await inGate(id, `write to ${folder}`, unpack(folder), signal)
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

/**
 * Waits until commands can run in the gate of a pod.
 * @returns the pod's name
 * @throws {RuntimeError} when they never will
 */
async function untilGated(cluster: ClusterContext, id: string, signal: AbortSignal): Promise<string> {
  const deadlines = new StartDeadlines(cluster.timeouts)
  const follower = cluster.index.follow(id)
  try {
    for (let told: Pod | undefined; ;) {
      const pod = told ?? (await findPod(cluster, id, signal))
      if (!pod) throw new RuntimeError('missing', `put files into ${id}`)
      if (gateOf(pod)?.state?.running) return pod.metadata.name
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
