import type { Command } from 'commander'
import { addHelp, type Run } from '#/cli/output/help.ts'
import { formatInstant } from '#/cli/output/words.ts'
import { withApi } from '#/cli/api/with-api.ts'

/** `berth link`. */
export function addLink(program: Command, run: Run): void {
  const link = program
    .command('link')
    .description('print a link that signs somebody in, for the hour in which mail is broken')
    .argument('<email>', 'address of an account')
    .action((email: string) =>
      run((context) =>
        withApi(context, async (api) => {
          const printed = await api.printLink({ body: { email } })
          context.terminal.json(printed)
          context.terminal.print(printed.link)
          const what = printed.purpose === 'signup' ? 'The first link' : 'A login link'
          context.terminal.note(
            `${what} of ${email}, good once and until ${formatInstant(printed.expires_at)} UTC. Whoever has it is them.`,
          )
          if (printed.link.includes(':0/'))
            context.terminal.note('PORT=0: put the port that Berth prints into the link.')
        }),
      ),
    )
  addHelp(link, {
    effect:
      'Sends no mail, and takes none of the links that an address may ask for in an hour. The audit log says that a link ' +
      'was printed, and not which. Who never verified their address gets a signup link; who is blocked gets none.',
    examples: [
      ['link ann@example.org', 'to be handed to Ann in person'],
      ['link boss@example.org | qrencode -t ansi', 'for a phone in the same room'],
    ],
  })
}
