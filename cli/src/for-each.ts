import { ApiError, type Client } from '@berth/api/client.ts'
import { CommandFailed } from './command-failure.ts'
import type { CommandContext } from './with-api.ts'
import { byApi } from './command.ts'

/** Result for one of many targets. */
export interface Done {
  /** For people. */
  readonly line: string
  /** For programs. */
  readonly value: object
}

/** Number of targets from which the progress is shown. */
const many = 20

/**
 * Runs the same operation for one target after the other. A refused one does not stop the others; Ctrl-C ends between
 * two.
 * The JSON output is `{done: [...], failed: [{target, error}]}`.
 * @throws {CommandFailed} at the end, when any was refused
 */
export async function forEach(
  { terminal, signal }: CommandContext,
  targets: readonly string[],
  work: (target: string) => Promise<Done>,
): Promise<void> {
  const unique = [...new Set(targets)]
  const [done, failed]: [object[], object[]] = [[], []]
  for (const [at, target] of unique.entries()) {
    signal.throwIfAborted()
    if (unique.length >= many) terminal.progress(`${at} of ${unique.length}`)
    try {
      const { line, value } = await work(target)
      terminal.endProgress()
      terminal.print(line)
      done.push(value)
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof CommandFailed)) throw error
      terminal.note(`${target}: ${error.message}`)
      failed.push({ target, error: error.message })
    }
  }
  terminal.endProgress()
  terminal.json({ done, failed })
  if (failed.length > 0) throw new CommandFailed(`${failed.length} of ${unique.length} could not be done.`)
}

/**
 * Work of a command that takes targets as its argument, and does the same for each of them by the API: see `forEach`.
 * @param timeout of one call, in ms
 */
export const forEachByApi = (work: (api: Client, target: string) => Promise<Done>, timeout?: number) =>
  byApi((context, api, targets: readonly string[]) => forEach(context, targets, (target) => work(api, target)), timeout)

/** Work of a command that removes what it is given the ids of. */
export const removeByApi = (remove: (api: Client, id: string) => Promise<{ readonly message: string }>) =>
  forEachByApi(async (api, id) => removed(id, await remove(api, id)))

/** Result for an id whose removal is answered by a sentence. */
export const removed = (id: string, { message }: { readonly message: string }): Done => ({
  line: `${id}: ${message}`,
  value: { id: Number(id), message },
})
