import { containerTool } from '#/engines/container-tool.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { LogDemultiplexer } from '#/engines/transport/log-stream.ts'
import type { Inspection } from './container-lookup.ts'
import { callTimeouts, statusOf } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { helperLabel, taskHelperLabels, type HelperTask } from './labels.ts'

/** Bytes of memory that a helper may take: its folders in each other are at most 1,000, each with 32 KiB. */
const memory = 128 * 1024 ** 2
/** Bytes of its output that the engine keeps, of which most is a line each second. */
const keptOutput = { 'max-size': '1m', 'max-file': '2' }
/** Characters of its error output that are kept. */
const maxErrors = 1_000

/** Work of the container tool on volumes and folders, in a container of its own. */
export interface ToolTask {
  /** For errors. */
  readonly what: string
  /** Its first argument, by which the broker knows what is asked for. */
  readonly task: HelperTask
  readonly args: readonly string[]
  readonly capabilities: readonly string[]
  /** As the API of the engine has them, beside that of the tool. */
  readonly mounts: readonly object[]
  /** Of `HostConfig`, beside what each helper has. */
  readonly limits?: object
  readonly signal: AbortSignal
  /** Called before it is started, with its id. */
  readonly check?: (id: string) => Promise<void>
  /** Called with each line of its output; false: it is none of those that the tool promises, and says what went wrong. */
  readonly onLine: (line: string) => boolean
}

/** How it ended. */
export interface ToolEnd {
  readonly exitCode: number
  readonly errors: string
}

/**
 * Runs the container tool in a helper that has what its task needs, no network, and of rights those that are named; no program
 * of a user runs there. It is removed before this settles.
 * @throws {RuntimeError} `failed` where there is no tool for the engine's machine; the reason of the signal
 */
export async function runTool(engine: EngineContext, task: ToolTask): Promise<ToolEnd> {
  const { what, signal } = task
  const { architecture } = await engine.host.facts()
  const [tool] = await engine.tool.mounts(architecture, signal)
  if (!tool) throw new RuntimeError('failed', `${what}: the container tool is not in its volume; the log says why`)
  const id = await createHelper(engine, task, tool)
  try {
    await task.check?.(id)
    const call = { what, method: 'POST', path: `/containers/${id}/start`, timeout: callTimeouts.start, signal } as const
    await engine.client.ask(call)
    return await untilEnded(engine, id, task)
  } finally {
    await removeHelper(engine, id)
  }
}

async function createHelper({ helpers, installation }: EngineContext, task: ToolTask, tool: object): Promise<string> {
  return helpers.createFrom(task.what, {
    Cmd: [containerTool, task.task, ...task.args],
    User: '0:0',
    Labels: taskHelperLabels(installation, task.task),
    HostConfig: {
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      CapAdd: task.capabilities,
      SecurityOpt: ['no-new-privileges:true'],
      ReadonlyRootfs: true,
      Memory: memory,
      MemorySwap: memory,
      PidsLimit: 16,
      ...task.limits,
      LogConfig: { Type: 'local', Config: keptOutput },
      Mounts: [...task.mounts, tool],
    },
  })
}

/** Follows its output to the end of the program. */
async function untilEnded({ client }: EngineContext, id: string, { what, signal, onLine }: ToolTask): Promise<ToolEnd> {
  let errors = ''
  const take = (line: string) => {
    if (!onLine(line)) errors = `${errors}${line}\n`.slice(0, maxErrors)
  }
  const query = { stdout: 'true', stderr: 'true', follow: 'true' }
  const call = { what, method: 'GET', path: `/containers/${id}/logs`, query, timeout: callTimeouts.read } as const
  const reader = new LogDemultiplexer(false)
  for await (const bytes of await client.stream({ ...call, kind: 'stream', signal })) reader.push(bytes).forEach(take)
  reader.end().forEach(take)
  signal.throwIfAborted()
  const inspect = { what, method: 'GET', path: `/containers/${id}/json`, timeout: callTimeouts.read } as const
  const { State } = await client.ask<Pick<Inspection, 'State'>>(inspect)
  return { exitCode: State.ExitCode, errors }
}

/** By force: it may still run when it was given up. One that the engine keeps is removed by the next process (`helperLabel`). */
async function removeHelper({ client }: EngineContext, id: string): Promise<void> {
  const call = { what: `remove a ${helperLabel}`, method: 'DELETE', path: `/containers/${id}`, query: { force: '1' } }
  try {
    await client.ask({ ...call, method: 'DELETE', timeout: callTimeouts.remove })
  } catch (error) {
    if (statusOf(error) !== 404) throw error
  }
}
