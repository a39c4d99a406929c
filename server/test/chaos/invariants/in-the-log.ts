import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { World } from '../world/world.ts'

/** No token, of a link or of a session, is in anything that any process printed. Base64url text of that length is looked up. */
export async function tellsNoSecret({ ledger, program }: World): Promise<string[]> {
  const wrong: string[] = []
  for await (const line of createInterface({ input: createReadStream(program.logFile) }))
    for (const [word] of line.matchAll(/[\w-]{43,}(?:\.[\w-]+)*/g))
      if (ledger.secrets.has(word)) wrong.push(`a secret is in the log: ${line.replaceAll(word, '...').slice(0, 300)}`)
  return wrong
}

/** Nothing was logged that only a mistake of ours explains; each once. */
export async function tellsNoBug({ program }: World): Promise<string[]> {
  const found = new Map<string, string>()
  for await (const line of createInterface({ input: createReadStream(program.logFile) })) {
    const [mistake] =
      /(TypeError|ReferenceError|RangeError|SyntaxError|AssertionError|unhandled|uncaught).{0,80}/i.exec(line) ?? []
    if (mistake !== undefined) found.set(mistake, line.slice(0, 600))
  }
  return [...found.values()]
}
