import type { Client } from '@berth/api/client.ts'
import type { GroupInvitation } from '@berth/api/schemas/groups/group-invitations.ts'
import type { Command } from 'commander'
import { withApi, type CommandContext } from '#/cli/api/with-api.ts'
import { CommandFailed } from '#/cli/command-failure.ts'
import { forEach } from '#/cli/for-each.ts'
import { formatInstant } from '#/cli/output/formatting.ts'
import { addHelp, type Run } from '#/cli/output/help.ts'
import { pagesOf, printPages } from '#/cli/output/paged-list.ts'
import { findGroup } from './find-group.ts'

/** `berth groups invitations`, `resend` and `withdraw`. */
export function addInvitations(groups: Command, run: Run): void {
  addList(groups, run)
  addResend(groups, run)
  addWithdraw(groups, run)
}

function addList(groups: Command, run: Run): void {
  const list = groups
    .command('invitations')
    .description('list invitations to a group that are not accepted yet')
    .argument('<group>', 'name or id')
    .action((target: string) => run((context) => withApi(context, (api) => listInvitations(context, api, target))))
  addHelp(list, {
    effect: 'Read-only. With --json each invitation is one line of JSON.',
    examples: [
      ['groups invitations "Physics 7b"', 'addresses that have not signed up yet'],
      ['groups invitations 4 --json', 'for a program'],
    ],
  })
}

const headings = ['ID', 'EMAIL', 'ROLE', 'BY', 'AT']

async function listInvitations({ terminal }: CommandContext, api: Client, target: string): Promise<void> {
  await printPages(terminal, invitationsOf(api, target), { headings, rowOf })
}

const rowOf = ({ id, email, role, invited_by: by, created_at: at }: GroupInvitation) => [
  String(id),
  email,
  role,
  by,
  formatInstant(at),
]

function addResend(groups: Command, run: Run): void {
  const resend = groups
    .command('resend')
    .description('mail invitations to a group again')
    .argument('<group>', 'name or id')
    .argument('<email...>', 'invited addresses')
    .action((target: string, emails: string[]) =>
      run((context) =>
        forEachInvitation(context, target, emails, async (api, params) => api.resendGroupInvitation({ params })),
      ),
    )
  addHelp(resend, {
    effect: 'The invitation counts from now on; links of earlier mails work, too.',
    examples: [
      ['groups resend "Physics 7b" new@example.org', 'one more mail'],
      ['groups resend 4 ann@example.org ben@example.org', 'several addresses'],
    ],
  })
}

function addWithdraw(groups: Command, run: Run): void {
  const withdraw = groups
    .command('withdraw')
    .description('withdraw invitations to a group')
    .argument('<group>', 'name or id')
    .argument('<email...>', 'invited addresses')
    .action((target: string, emails: string[]) =>
      run((context) =>
        forEachInvitation(context, target, emails, async (api, params) => api.withdrawGroupInvitation({ params })),
      ),
    )
  addHelp(withdraw, {
    effect: 'The link of the mail opens an account, without the group.',
    examples: [
      ['groups withdraw "Physics 7b" new@example.org', 'an address that was a mistake'],
      ['groups withdraw 4 ann@example.org ben@example.org', 'several addresses'],
    ],
  })
}

type Work = (
  api: Client,
  params: { readonly id: string; readonly invitation_id: string },
) => Promise<{ readonly message: string }>

async function forEachInvitation(
  context: CommandContext,
  target: string,
  emails: readonly string[],
  work: Work,
): Promise<void> {
  await withApi(context, async (api) => {
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
