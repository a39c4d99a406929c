import type { Client } from '@berth/api/client.ts'
import { byApi, type CommandSpec } from '#/command.ts'
import type { CommandContext } from '#/with-api.ts'
import { formatInstant } from '#/formatting.ts'

/** `berth link`. */
export const link: CommandSpec = {
  description: 'print a login link, for when mail does not work',
  usage: (command) => command.argument('<email>', 'address of an account'),
  effect:
    'Sends no mail and does not count towards the rate limit of the address. The audit log records that a link ' +
    'was printed, not the link. An unverified account gets a signup link, a blocked one none.',
  examples: [
    ['link ann@example.org', 'to hand over to Ann'],
    ['link boss@example.org | qrencode -t ansi', 'as a QR code for a phone'],
  ],
  work: byApi(printLink),
}

async function printLink({ terminal }: CommandContext, api: Client, email: string): Promise<void> {
  const printed = await api.printLink({ body: { email } })
  terminal.json(printed)
  terminal.print(printed.link)
  const what = printed.purpose === 'signup' ? 'The first link' : 'A login link'
  terminal.note(
    `${what} of ${email}, valid once, until ${formatInstant(printed.expires_at)} UTC. It signs in to this account: keep it secret.`,
  )
  if (printed.link.includes(':0/')) terminal.note('PORT=0: put the port that Berth prints into the link.')
}
