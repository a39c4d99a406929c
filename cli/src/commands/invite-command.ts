import path from 'node:path'
import { languages, type Language } from '@berth/api/boot.ts'
import type { InvitationsResponse } from '@berth/api/schemas/invitations.ts'
import { Option } from 'commander'
import type { Client } from '@berth/api/client.ts'
import type { CommandSpec } from '#/command.ts'
import { withApi, type CommandContext } from '#/with-api.ts'
import { CommandFailed, WrongUsage } from '#/command-failure.ts'
import { addressesPerCall, readAddresses } from '#/read-addresses.ts'

interface InviteOptions {
  readonly csv?: string
  readonly column?: string
  readonly mail: boolean
  readonly language?: Language
}

type Invitation = InvitationsResponse['invitations'][number]

/** `berth users invite`. */
export const inviteCommand: CommandSpec = {
  description: 'create accounts and mail each a signup link',
  usage: (command) =>
    command
      .argument('[email...]', 'addresses')
      .option('--csv <file>', 'also the addresses in this file; columns separated by comma, semicolon or tab')
      .option(
        '--column <name>',
        'heading of the column with the addresses; default: "email", "e-mail address" or "mail", else the first with an @',
      )
      .addOption(new Option('--language <language>', 'language of the mails; default English').choices(languages))
      .option('--no-mail', 'do not mail; print the links instead'),
  effect:
    'Starts no container. Existing accounts are not changed; unverified ones get another link. ' +
    'Can be repeated after an interruption: each address is one line, with --json one line of JSON.',
  examples: [
    ['users invite ann@example.org bob@example.org', 'two users'],
    ['users invite --csv class.csv --column "Student mail" --no-mail', 'a class, with links to hand out'],
  ],
  work: invitePeople,
}

async function invitePeople(context: CommandContext, typed: readonly string[], options: InviteOptions): Promise<void> {
  const fromFile =
    options.csv === undefined ? [] : await readAddresses(path.resolve(context.folder, options.csv), options.column)
  const emails = [...new Set([...typed, ...fromFile])]
  if (emails.length === 0) throw new WrongUsage('Whom? Give addresses, or a file of them with --csv.')
  const notDone = await withApi(context, (api) => inviteAll(context, api, emails, options))
  if (notDone > 0) throw new CommandFailed(`${notDone} of ${emails.length} could not be invited.`)
}

/** @returns the number of addresses that could not be invited */
async function inviteAll(
  { terminal, signal }: CommandContext,
  api: Client,
  emails: readonly string[],
  options: InviteOptions,
) {
  const wish = { send: options.mail, ...(options.language && { language: options.language }) }
  let notDone = 0
  for (let at = 0; at < emails.length; at += addressesPerCall) {
    signal.throwIfAborted()
    if (emails.length > addressesPerCall) terminal.progress(`${at} of ${emails.length} invited`)
    const { invitations } = await api.invite({ body: { emails: emails.slice(at, at + addressesPerCall), ...wish } })
    terminal.endProgress()
    for (const invitation of invitations) {
      terminal.json(invitation)
      terminal.print(wordsFor(invitation))
    }
    notDone += invitations.filter(({ status }) => status === 'failed' || status === 'invalid').length
    await terminal.drained()
  }
  return notDone
}

const sentences: Record<Invitation['status'], string> = {
  invited: 'invited',
  'already-registered': 'has an account already',
  invalid: 'is no address that mail can be sent to',
  failed: 'could not be invited: the mail was not accepted, and nothing was stored',
}

const wordsFor = ({ email, status, link }: Invitation) => `${email}: ${link ?? sentences[status]}`
