import { addAbortSignal, type Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { linesOfTables, listeningIn, type ListeningProgram } from '#/engines/listening-programs.ts'
import { withTimeout } from '#/machine/try-or-log.ts'
import { corePath } from './cluster-client.ts'
import type { ClusterContext } from './cluster-context.ts'
import { findRunning } from './container-lookup.ts'
import { outputOf } from './pod-exec.ts'
import { appContainer } from './pod-state.ts'
import { openSocket, PodStream } from './pod-stream.ts'

/** Bytes of the kernel's tables that are read. */
const maxTables = 4 * 1024 * 1024

/** By `cat` of the image: nothing of ours is in a pod. Needs the right `pods/exec`. */
export async function listListening(
  cluster: ClusterContext,
  uid: string,
  signal: AbortSignal,
): Promise<ListeningProgram[]> {
  const what = `look at the ports of ${uid}`
  const pod = await findRunning(cluster, uid, what, signal)
  // Without IPv6 there is no second table, and `cat` fails after the first.
  const script = ['sh', '-c', 'cat /proc/net/tcp /proc/net/tcp6 2>/dev/null || true']
  const call = { what, pod, container: appContainer, command: script, signal }
  return listeningIn(linesOfTables(await outputOf(cluster, call, maxTables)))
}

/**
 * By the cluster's forwarding of ports. Needs the right `pods/portforward`.
 * Source: kubernetes, `k8s.io/kubelet/pkg/cri/streaming/portforward`, `v4.channel.k8s.io`: a channel for the bytes of a port and one
 * for its errors, each of which begins with the port's number; a connection that is made is not told.
 */
export async function connectToLoopback(
  cluster: ClusterContext,
  uid: string,
  port: number,
  signal: AbortSignal,
): Promise<Duplex | 'refused'> {
  const what = `connect to port ${port} of ${uid}`
  const pod = await findRunning(cluster, uid, what, signal)
  const path = `${corePath(cluster, 'pods', pod)}/portforward?ports=${port}`
  const socket = await openSocket(cluster, { what, path, protocols: ['v4.channel.k8s.io'], signal })
  const connection = new ForwardedPort(socket, what)
  addAbortSignal(signal, connection)
  await connection.opened
  if (!(await withTimeout(refusalTime, connection.refused))) return connection
  connection.destroy()
  return 'refused'
}

/** How long a refusal takes to come at most, in ms. */
const refusalTime = 250

const [data, errors] = [0, 1]

class ForwardedPort extends PodStream {
  /** Resolves when an error has come, which ends the connection. */
  readonly refused: Promise<true>
  readonly #refuse: (refused: true) => void
  /** Bytes of the port's number that are still to come, by channel. */
  readonly #numberLeft = [2, 2]

  constructor(socket: WebSocket, what: string) {
    super(socket, what, data)
    const { promise, resolve } = Promise.withResolvers<true>()
    this.refused = promise
    this.#refuse = resolve
  }

  protected override takeMessage(message: Buffer): void {
    const channel = message[0] ?? data
    const skipped = Math.min(this.#numberLeft[channel] ?? 0, message.length - 1)
    this.#numberLeft[channel] = (this.#numberLeft[channel] ?? 0) - skipped
    const content = message.subarray(1 + skipped)
    if (channel === data) this.pass(content)
    if (channel === errors && content.length > 0) this.#refuse(true)
  }

  protected override lose(): void {
    this.push(null)
  }
}
