import type { Client } from '@berth/api/client.ts'
import type { Command } from 'commander'
import { addHelp, type Run } from '#/cli/output/help.ts'
import { formatInstant } from '#/cli/output/words.ts'
import { withApi, type CommandContext } from '#/cli/api/with-api.ts'

/** `berth keys ...`: what tokens are signed with. */
export function addKeys(program: Command, run: Run): void {
  const keys = program.command('keys').description('the keys that tokens are signed with: list and rotate them')
  addList(keys, run)
  addRotate(keys, run)
}

function addList(keys: Command, run: Run): void {
  const list = keys
    .command('list')
    .description('list the keys whose tokens are accepted')
    .action(() => run((context) => withApi(context, (api) => listKeys(context, api))))
  addHelp(list, {
    effect: 'Only reads, and prints nothing that is secret. With --json each key is one line: its public half.',
    examples: [
      ['keys list', 'which key signs, and which are accepted still'],
      ['keys list --json | jq .kid', 'their names, for a script'],
    ],
  })
}

/** In the order in which they are published. */
const states = ['signs', 'signs next']

async function listKeys({ terminal }: CommandContext, api: Client): Promise<void> {
  const { keys } = await api.jwks()
  for (const key of keys) terminal.json(key)
  const rows = keys.map(({ kid, alg }, at) => [String(kid), String(alg ?? ''), states[at] ?? 'accepted still'])
  terminal.table(['KEY', 'ALGORITHM', 'STATE'], rows)
}

function addRotate(keys: Command, run: Run): void {
  const rotate = keys
    .command('rotate')
    .description('sign tokens with a new key from now on')
    .action(() => run((context) => withApi(context, (api) => rotateKeys(context, api))))
  addHelp(rotate, {
    effect:
      'Nobody is signed out: tokens of the old key stay good until they expire. Containers go on running, and know the new ' +
      'key: the next one is announced to them when they are made. After two rotations they have to be started again.',
    examples: [
      ['keys rotate', 'once a year, say from cron'],
      ['keys rotate --json | jq -r .kid', 'the name of the new key'],
    ],
  })
}

async function rotateKeys({ terminal }: CommandContext, api: Client): Promise<void> {
  const rotated = await api.rotateKeys()
  terminal.json(rotated)
  terminal.print(rotated.message)
  terminal.print(`  signs     ${rotated.kid}`)
  for (const { kid, until } of rotated.retired) terminal.print(`  accepted  ${kid}, until ${formatInstant(until)} UTC`)
}
