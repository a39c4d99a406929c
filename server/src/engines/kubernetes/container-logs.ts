import { RuntimeError } from '#/engines/runtime-error.ts'
import { LogDemultiplexer, pacedBytes } from '#/engines/transport/log-stream.ts'
import { withSignal } from '#/machine/try-or-log.ts'
import { callTimeouts, corePath, isMissing, statusOf } from './cluster-client.ts'
import type { ClusterContext } from './cluster-context.ts'
import { findPod } from './container-lookup.ts'
import { stateOf } from './pod-state.ts'

/** How many bytes of the answer are taken. */
const maxBytes = 64 * 1024

type OnLine = (line: string) => void | Promise<void>

/**
 * Only of this installation's pods. The API server sends the oldest line first, so fewer are asked for until all fit.
 */
export async function readLogs(cluster: ClusterContext, uid: string, lines: number): Promise<string[]> {
  const pod = await findPod(cluster, uid)
  if (!pod || stateOf(pod) === 'created' || lines < 1) return []
  for (let tail = Math.trunc(lines); ; tail = Math.trunc(tail / 2)) {
    const written = await readTail(cluster, pod.metadata.name, tail)
    if (written.length >= maxBytes && tail > 1) continue
    const reader = new LogDemultiplexer(true)
    return [...reader.push(written), ...reader.end()].slice(-lines)
  }
}

/** Empty when the pod is gone, or its container does not run yet. */
async function readTail(cluster: ClusterContext, name: string, tail: number): Promise<Buffer> {
  const call = { what: `read the output of ${name}`, method: 'GET', path: logPath(cluster, name) } as const
  const query = { tailLines: String(tail), limitBytes: String(maxBytes) }
  try {
    return await cluster.client.download({ ...call, query, timeout: callTimeouts.read }, maxBytes)
  } catch (error) {
    if (isMissing(error) || statusOf(error) === 400) return Buffer.alloc(0)
    throw error
  }
}

/** The answer ends with the program. A line waits in the connection until the one before was taken. */
export async function followLogs(
  cluster: ClusterContext,
  uid: string,
  lines: number,
  onLine: OnLine,
  signal: AbortSignal,
): Promise<void> {
  try {
    const pod = await findPod(cluster, uid, signal)
    if (!pod) throw new RuntimeError('missing', `follow the output of ${uid}`)
    if (stateOf(pod) === 'created') return
    const reader = new LogDemultiplexer(true)
    const emit = async (read: readonly string[]) => {
      for (const line of read) await withSignal(Promise.resolve(onLine(line)), signal)
    }
    const output = pacedBytes(await open(cluster, pod.metadata.name, lines, signal), signal)
    for await (const bytes of output) await emit(reader.push(bytes))
    await emit(reader.end())
  } catch (error) {
    // After an abort the caller gets no further line and no error.
    if (!signal.aborted) throw error
  }
}

function open(
  cluster: ClusterContext,
  name: string,
  lines: number,
  signal: AbortSignal,
): Promise<AsyncGenerator<Buffer>> {
  const query = { follow: 'true', tailLines: String(Math.max(0, Math.trunc(lines))) }
  const call = { what: `follow the output of ${name}`, method: 'GET', path: logPath(cluster, name) } as const
  // The API server answers with the first line, or after a while without one.
  return cluster.client.stream({ ...call, query, timeout: callTimeouts.list, kind: 'stream', signal })
}

const logPath = (cluster: ClusterContext, name: string) => `${corePath(cluster, 'pods', name)}/log`
