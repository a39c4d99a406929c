import type { GroupInvitation } from '@berth/api/schemas/groups/group-invitations.ts'
import type { Command } from 'commander'
import type { Client } from '@berth/api/client.ts'
import { addCommands, byApi, listByApi, type CommandSpec } from '#/command.ts'
import { forEach } from '#/for-each.ts'
import type { Run } from '#/help.ts'
import { pagesOf } from '#/paged-list.ts'
import { CommandFailed } from '#/command-failure.ts'
import { formatInstant } from '#/formatting.ts'
import { findGroup } from './find-group.ts'

/** `berth groups invitations`, `resend` and `withdraw`. */
export function addInvitations(groups: Command, run: Run): void {
  addCommands(groups, run, { invitations: list, resend, withdraw })
}

const list: CommandSpec = {
  description: 'list invitations to a group that are not accepted yet',
  usage: (command) => command.argument('<group>', 'name or id'),
  effect: 'Read-only. With --json each invitation is one line of JSON.',
  examples: [
    ['groups invitations "Physics 7b"', 'addresses that have not signed up yet'],
    ['groups invitations 4 --json', 'for a program'],
  ],
  work: listByApi(invitationsOf, {
    headings: ['ID', 'EMAIL', 'ROLE', 'BY', 'AT'],
    rowOf: ({ id, email, role, invited_by: by, created_at: at }: GroupInvitation) => [
      String(id),
      email,
      role,
      by,
      formatInstant(at),
    ],
  }),
}

const withAddresses = (command: Command) =>
  command.argument('<group>', 'name or id').argument('<email...>', 'invited addresses')

const resend: CommandSpec = {
  description: 'mail invitations to a group again',
  usage: withAddresses,
  effect: 'The invitation counts from now on; links of earlier mails work, too.',
  examples: [
    ['groups resend "Physics 7b" new@example.org', 'one more mail'],
    ['groups resend 4 ann@example.org ben@example.org', 'several addresses'],
  ],
  work: forEachInvitation((api, params) => api.resendGroupInvitation({ params })),
}

const withdraw: CommandSpec = {
  description: 'withdraw invitations to a group',
  usage: withAddresses,
  effect: 'The link of the mail opens an account, without the group.',
  examples: [
    ['groups withdraw "Physics 7b" new@example.org', 'an address that was a mistake'],
    ['groups withdraw 4 ann@example.org ben@example.org', 'several addresses'],
  ],
  work: forEachInvitation((api, params) => api.withdrawGroupInvitation({ params })),
}

type Work = (
  api: Client,
  params: { readonly id: string; readonly invitation_id: string },
) => Promise<{ readonly message: string }>

function forEachInvitation(work: Work) {
  return byApi(async (context, api, target: string, emails: readonly string[]) => {
    const { id, name } = await findGroup(api, target)
    const wanted = new Set(emails.map((each) => each.toLowerCase()))
    const ids = new Map<string, number>()
    for await (const page of invitationsOf(api, String(id)))
      for (const each of page) if (wanted.has(each.email)) ids.set(each.email, each.id)
    await forEach(context, emails, async (email) => {
      const invitation = ids.get(email.toLowerCase())
      if (invitation === undefined) throw new CommandFailed(`There is no invitation of ${email} to ${name}.`)
      const { message } = await work(api, { id: String(id), invitation_id: String(invitation) })
      return { line: `${email}: ${message}`, value: { email, message } }
    })
  })
}

async function* invitationsOf(api: Client, target: string): AsyncGenerator<readonly GroupInvitation[]> {
  const params = { id: String((await findGroup(api, target)).id) }
  const pages = pagesOf((query) => api.listGroupInvitations({ params, query }))
  for await (const { invitations } of pages) yield invitations
}
