import type { Duplex } from 'node:stream'
import { containerTool, toolRefused } from '#/engines/container-tool.ts'
import { listeningIn, type ListeningProgram } from '#/engines/listening-programs.ts'
import type { ExecProcess } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { execInContainer } from './container-exec.ts'
import type { EngineContext } from './engine-context.ts'

/** Characters of the tool's output that are read: a program may listen on every port. */
const maxOutput = 256 * 1024
/** What the tool says once it is connected. */
const connected = Buffer.from('connected\n')

/** Asks the container tool in the container. */
export async function listListening(
  engine: EngineContext,
  id: string,
  signal: AbortSignal,
): Promise<ListeningProgram[]> {
  const process = await execInContainer(engine, id, [containerTool, 'ports'], signal)
  process.stream.end()
  let lines = ''
  try {
    for await (const bytes of process.stream as AsyncIterable<Buffer>) {
      lines += bytes.toString('latin1')
      if (lines.length > maxOutput) break
    }
  } finally {
    process.stream.destroy()
  }
  const { code, errors } = await process.ended
  if (code !== 0 && lines.length <= maxOutput) throw noTool(id, code, errors)
  return listeningIn(lines)
}

/** Through the container tool, which ends with the connection. */
export async function connectToLoopback(
  engine: EngineContext,
  id: string,
  port: number,
  signal: AbortSignal,
): Promise<Duplex | 'refused'> {
  const process = await execInContainer(engine, id, [containerTool, 'connect', '--together', String(port)], signal)
  if (await saysConnected(process)) return process.stream
  process.stream.destroy()
  const { code, errors } = await process.ended
  if (code === toolRefused) return 'refused'
  throw noTool(id, code, errors)
}

/** Whether the tool's output begins as that of a connection; what follows is left to be read. */
async function saysConnected({ stream }: ExecProcess): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const look = () => {
    const bytes = stream.read(connected.length) as Buffer | null
    if (bytes) resolve(bytes.equals(connected))
  }
  const isOver = () => resolve(false)
  stream.on('readable', look).once('end', isOver).once('close', isOver).on('error', isOver)
  try {
    return await promise
  } finally {
    stream.off('readable', look).off('end', isOver).off('close', isOver)
  }
}

const noTool = (id: string, code: number | null, errors: string) =>
  new RuntimeError('failed', `reach the ports of ${id}`, new Error(`the container tool ended with ${code}: ${errors}`))
