import type { Command } from 'commander'
import { addHelp, type Run } from '#/cli/output/help.ts'
import { formatInstant } from '#/cli/output/formatting.ts'
import { withApi } from '#/cli/api/with-api.ts'

/** `berth link`. */
export function addLink(program: Command, run: Run): void {
  const link = program
    .command('link')
    .description('print a login link, for when mail does not work')
    .argument('<email>', 'address of an account')
    .action((email: string) =>
      run((context) =>
        withApi(context, async (api) => {
          const printed = await api.printLink({ body: { email } })
          context.terminal.json(printed)
          context.terminal.print(printed.link)
          const what = printed.purpose === 'signup' ? 'The first link' : 'A login link'
          context.terminal.note(
            `${what} of ${email}, valid once, until ${formatInstant(printed.expires_at)} UTC. It signs in to this account: keep it secret.`,
          )
          if (printed.link.includes(':0/'))
            context.terminal.note('PORT=0: put the port that Berth prints into the link.')
        }),
      ),
    )
  addHelp(link, {
    effect:
      'Sends no mail and does not count towards the rate limit of the address. The audit log records that a link ' +
      'was printed, not the link. An unverified account gets a signup link, a blocked one none.',
    examples: [
      ['link ann@example.org', 'to hand over to Ann'],
      ['link boss@example.org | qrencode -t ansi', 'as a QR code for a phone'],
    ],
  })
}
