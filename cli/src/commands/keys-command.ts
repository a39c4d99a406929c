import { defineCommand, type CommandGroup } from '#/command.ts'
import { formatInstant } from '#/terminal.ts'

/** `berth keys ...`: signing keys of tokens. */
export const keysCommands: CommandGroup = {
  description: 'signing keys: list and rotate them',
  commands: () => ({ list, rotate }),
}

const list = defineCommand({
  description: 'list the keys whose tokens are accepted',
  effect: 'Read-only, and prints no secret. With --json each public key is one line.',
  examples: [
    ['keys list', 'which key signs, and which are still accepted'],
    ['keys list --json | jq .kid', 'key ids, for a script'],
  ],
  api: async ({ terminal }, api) => {
    const { keys } = await api.jwks()
    for (const key of keys) terminal.json(key)
    const rows = keys.map(({ kid, alg }, at) => [String(kid), String(alg ?? ''), states[at] ?? 'accepted still'])
    terminal.table(['KEY', 'ALGORITHM', 'STATE'], rows)
  },
})

/** In the order in which they are published. */
const states = ['signs', 'signs next']

const rotate = defineCommand({
  description: 'sign tokens with a new key',
  effect:
    'No user is signed out: tokens of the old key stay valid until they expire. Running containers know the new ' +
    'key, because the next key is passed to them at creation. After two rotations they must be restarted.',
  examples: [
    ['keys rotate', 'once a year, e.g. from cron'],
    ['keys rotate --json | jq -r .kid', 'the id of the new key'],
  ],
  api: async ({ terminal }, api) => {
    const rotated = await api.rotateKeys()
    terminal.json(rotated)
    terminal.print(rotated.message)
    terminal.print(`  signs     ${rotated.kid}`)
    for (const { kid, until } of rotated.retired)
      terminal.print(`  accepted  ${kid}, until ${formatInstant(until)} UTC`)
  },
})
