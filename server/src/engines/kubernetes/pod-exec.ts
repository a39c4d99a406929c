import type { V1Container, V1Volume } from '@kubernetes/client-node'
import { WebSocket, type RawData } from 'ws'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { toRuntimeError } from '#/engines/transport/engine-calls.ts'
import type { ContainerStatus, Pod } from './api-objects.ts'
import { corePath } from './cluster-client.ts'
import type { ClusterContext } from './cluster-context.ts'
import { openSocket } from './pod-stream.ts'

/** A command in a container of a pod; its output is read as it comes. */
export interface ExecCall {
  /** What is being done, for the error. */
  readonly what: string
  readonly pod: string
  readonly container: string
  readonly command: readonly string[]
  /** The command has to know its end by itself, as `unpack` does: this protocol cannot close a standard input. */
  readonly input?: AsyncIterable<Uint8Array> | undefined
  readonly signal: AbortSignal
}

/** First byte of each message. Source: kubernetes, `v4.channel.k8s.io`. */
export const channels = { input: 0, output: 1, errors: 2, result: 3 } as const
/** Bytes that are kept before the connection waits for the reader, and those of one message. */
const [maxKept, maxMessage] = [1024 * 1024, 32 * 1024]
/** Characters of the error output that are kept. */
export const maxErrors = 2_000

/** How a command ended: a `Status` of the API. */
export interface ExecResult {
  readonly status?: string
  readonly message?: string
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] }
}

/**
 * Runs a command, and yields its standard output.
 * @throws {RuntimeError} `failed` with its error output when it ends with another code than 0 or cannot be run;
 *   `missing` without the pod; `unreachable` when the connection breaks; the reason of the signal
 */
export async function* execInPod(cluster: ClusterContext, call: ExecCall): AsyncGenerator<Buffer> {
  const { signal, what, input } = call
  signal.throwIfAborted()
  const protocols = ['v4.channel.k8s.io']
  const session = new ExecSession(await openExec(cluster, { ...call, hasInput: input !== undefined, protocols }), what)
  const onAbort = () => session.end(signal.reason as Error)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await session.opened
    // A command may end before it has read all of its input.
    const sending = input && session.send(input).catch((error: unknown) => session.end(error as Error))
    yield* session.output()
    await sending
  } catch (error) {
    throw toRuntimeError(error, what, signal)
  } finally {
    signal.removeEventListener('abort', onAbort)
    session.close()
  }
}

/** All of the output, as text; of at most so many bytes. @throws as `execInPod` */
export async function outputOf(cluster: ClusterContext, call: ExecCall, maxBytes = 64 * 1024): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of execInPod(cluster, call)) {
    parts.push(part)
    length += part.length
    if (length > maxBytes) throw new RuntimeError('failed', `${call.what}: its output is too long`)
  }
  return Buffer.concat(parts).toString()
}

/** Connects, for a command. @param call with the versions of the protocol that are spoken, best first */
export async function openExec(
  cluster: ClusterContext,
  call: Omit<ExecCall, 'input'> & { readonly hasInput: boolean; readonly protocols: string[] },
): Promise<WebSocket> {
  const { what, pod, container, command, hasInput, protocols, signal } = call
  const query = new URLSearchParams([
    ['container', container],
    ['stdout', 'true'],
    ['stderr', 'true'],
    ...(hasInput ? [['stdin', 'true']] : []),
    ...command.map((word) => ['command', word]),
  ] as [string, string][])
  const path = `${corePath(cluster, 'pods', pod)}/exec?${query.toString()}`
  return openSocket(cluster, { what, path, protocols, signal })
}

/** One connection of a command: output waits for its reader, and input for the connection. */
class ExecSession {
  readonly opened: Promise<void>
  readonly #socket: WebSocket
  readonly #what: string
  readonly #kept: Buffer[] = []
  #keptBytes = 0
  #errors = ''
  #result: ExecResult | undefined
  #failure: Error | undefined
  #isClosed = false
  #wake: () => void = () => undefined

  constructor(socket: WebSocket, what: string) {
    this.#socket = socket
    this.#what = what
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.opened = promise
    // Its reader may have gone by then.
    promise.catch(() => undefined)
    socket.on('open', resolve)
    socket.on('message', (data) => this.#take(data))
    socket.on('error', (error) => this.end(error))
    socket.on('close', () => {
      this.#isClosed = true
      reject(this.#failure ?? new Error('the connection was closed'))
      this.#wake()
    })
  }

  async send(input: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const bytes of input)
      for (let at = 0; at < bytes.length; at += maxMessage) {
        // A connection that is ending takes each message at once, so that an archive in memory would never let its end
        // be seen.
        if (this.#result || this.#socket.readyState !== WebSocket.OPEN) return
        await this.#sendOne(bytes.subarray(at, at + maxMessage))
      }
  }

  async #sendOne(bytes: Uint8Array): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    // What cannot be sent any more is told by the end of the connection.
    this.#socket.send(Buffer.concat([Buffer.from([channels.input]), bytes]), () => resolve())
    return promise
  }

  async *output(): AsyncGenerator<Buffer> {
    for (;;) {
      const next = this.#kept.shift()
      if (next) {
        this.#keptBytes -= next.length
        if (this.#socket.isPaused && this.#keptBytes < maxKept / 2) this.#socket.resume()
        yield next
      } else if (this.#result ?? this.#failure ?? this.#isClosed) {
        return this.#requireSuccess()
      } else {
        const { promise, resolve } = Promise.withResolvers<void>()
        this.#wake = resolve
        await promise
      }
    }
  }

  /** @param reason what its reader gets */
  end(reason: Error): void {
    this.#failure ??= reason
    this.#socket.terminate()
    this.#wake()
  }

  close(): void {
    this.#socket.terminate()
  }

  #take(data: RawData): void {
    const bytes = data as Buffer
    const [channel, content] = [bytes[0], bytes.subarray(1)]
    if (channel === channels.errors) this.#errors = (this.#errors + content.toString()).slice(-maxErrors)
    if (channel === channels.result) this.#result = JSON.parse(content.toString()) as ExecResult
    if (channel === channels.output && content.length > 0) {
      this.#kept.push(content)
      this.#keptBytes += content.length
      if (this.#keptBytes > maxKept) this.#socket.pause()
    }
    this.#wake()
  }

  #requireSuccess(): void {
    if (this.#result?.status === 'Success') return
    if (this.#failure && !this.#result) throw this.#failure
    if (!this.#result) throw new RuntimeError('unreachable', this.#what, new Error('the connection ended too early'))
    const words = this.#errors.trim() || this.#result.message
    throw new RuntimeError('failed', this.#what, new Error(words))
  }
}

/** Capabilities of a program that reads and writes files of all users, and nothing else. */
const fileCapabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID']

/**
 * A container of the helper image, which has `sh`, `tar`, `stat`, `cat` and `readlink`; root over the files of one
 * home.
 */
export const helperContainer = (
  name: string,
  image: string,
  script: string,
  volumeMounts: NonNullable<V1Container['volumeMounts']>,
): V1Container => ({
  name,
  image,
  command: ['sh', '-c', script],
  resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { cpu: '1', memory: '256Mi' } },
  securityContext: {
    runAsUser: 0,
    runAsGroup: 0,
    privileged: false,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'], add: fileCapabilities },
  },
  volumeMounts,
})

/**
 * Waits until a condition of the shell holds, and ends with 1 when no command has run in this container for so long:
 * then the process that made it has died. What it sees before any command is none: itself, and in a pod whose
 * containers share their processes the pause container.
 * @param idle seconds
 */
export const waitingScript = (condition: string, idle: number): string =>
  [
    'n=0; set -- /proc/[0-9]*; own=$#',
    `until ${condition}; do`,
    '  sleep 0.5; set -- /proc/[0-9]*',
    '  if [ $# -gt $own ]; then n=0; else own=$# n=$((n + 1)); fi',
    `  [ $n -lt ${idle * 2} ] || exit 1`,
    'done',
  ].join('\n')

/** Unpacks `framed` input in a folder, with owners and modes. */
export const unpack = (folder: string): readonly string[] => ['sh', '-c', unpackScript, 'sh', folder]

/**
 * The protocol of commands cannot close their input, and `tar` reads to the end of it, so the archive comes in pieces,
 * each with its length before it; a length of 0 ends it. `read` takes no byte more than its line, and `dd` none more
 * than its block.
 */
const unpackScript = [
  'while read -r n && [ "$n" -gt 0 ]; do',
  '  dd bs="$n" count=1 iflag=fullblock 2>/dev/null || exit 1',
  'done | tar -x -p --numeric-owner -C "$1" -f -',
].join('\n')

/** Packs all that is in a folder, or what has this name there, `./` before it. */
export const pack = (folder: string, name = '.'): readonly string[] => [
  'tar',
  '-c',
  '--numeric-owner',
  '-C',
  folder,
  '-f',
  '-',
  name,
]

/** Prints `folder` or `other` when a folder has something at a path, without a symbolic link before its last part. */
export const lookAt = (folder: string, path: string): readonly string[] => ['sh', '-c', lookScript, 'sh', folder, path]

const lookScript = [
  'cd -- "$1" || exit 1',
  'path=$2',
  'while [ "$path" != "${path#*/}" ]; do',
  '  part=./${path%%/*} path=${path#*/}',
  '  [ -d "$part" ] && [ ! -L "$part" ] && cd -- "$part" || exit 0',
  'done',
  '[ -e "./$path" ] || [ -L "./$path" ] || exit 0',
  'if [ -d "./$path" ] && [ ! -L "./$path" ]; then printf folder; else printf other; fi',
].join('\n')

/** Bytes of a piece: each costs a process. */
const pieceSize = 1024 * 1024

/** An archive in the pieces that `unpack` reads. */
export async function* framed(archive: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = []
  let length = 0
  const piece = () => {
    const bytes = Buffer.concat([Buffer.from(`${length}\n`), ...parts])
    parts = []
    length = 0
    return bytes
  }
  for await (const bytes of archive)
    for (let at = 0; at < bytes.length; at += pieceSize) {
      const part = bytes.subarray(at, at + pieceSize)
      if (length > 0 && length + part.length > pieceSize) yield piece()
      parts.push(part)
      length += part.length
    }
  if (length > 0) yield piece()
  yield Buffer.from('0\n')
}

/** Name of the container that keeps the app from starting until its files are in the home. */
export const gateName = 'files'
const gateFolder = '/berth-gate'
/** Seconds without a command after which the pod gives up: Berth ended between creation and start. */
const gateIdle = 600
/** ms */
const gateOpenTimeout = 15_000

/** An init container of the helper image with the home, which ends once it is opened; and the folder that opens it. */
export function filesGate(image: string, home: string): { container: V1Container; volume: V1Volume } {
  const mounts = [
    { name: 'home', mountPath: home },
    { name: 'gate', mountPath: gateFolder },
  ]
  return {
    container: helperContainer(gateName, image, waitingScript(`[ -e ${gateFolder}/open ]`, gateIdle), mounts),
    volume: { name: 'gate', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
  }
}

/** Status of the gate of a pod; undefined when it has none, or none is known yet. */
export const gateOf = ({ status }: Pod): ContainerStatus | undefined =>
  status?.initContainerStatuses?.find(({ name }) => name === gateName)

/**
 * Lets the app of a pod start, if a gate that runs keeps it from that.
 * @param isOurs whether this process created it for this start, and so has put its files
 * @returns whether it is open now
 * @throws {RuntimeError} `failed` for one of another process: its files may be missing
 */
export async function openGate(
  cluster: ClusterContext,
  pod: Pod,
  isOurs: boolean,
  signal?: AbortSignal,
): Promise<boolean> {
  if (!gateOf(pod)?.state?.running) return false
  if (!isOurs) throw new RuntimeError('failed', `start ${pod.metadata.name}: its starter files may be missing`)
  const limit = AbortSignal.timeout(gateOpenTimeout)
  await outputOf(cluster, {
    what: `start ${pod.metadata.name}`,
    pod: pod.metadata.name,
    container: gateName,
    command: ['touch', `${gateFolder}/open`],
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  })
  return true
}
