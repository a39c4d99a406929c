import { auditActions } from '@berth/api/audit-actions.ts'
import { code, page, table } from './markdown.ts'

const introduction = `The audit log records every action of an administrator or the operator on other users, in the transaction that makes the change: either both are stored or neither. An action that changes nothing, such as blocking a blocked container, has no entry.

Administrators read, filter, verify and export the log on the page Audit log and at \`GET /api/admin/audit\` (filters \`actor\`, \`action\`, \`target\`, \`since\`, \`until\`; \`names=true\` adds the addresses of the users that the entries concern). The operator uses \`berth audit list\` and \`berth audit export\` (JSON lines or CSV).

| field | content |
| --- | --- |
| \`id\` | 1, 2, 3... without a gap |
| \`at\` | time |
| \`actor\` | the actor as of then; the operator has no id and is called \`operator\` and the name of the operating system's account, e.g. \`operator root\` |
| \`action\`, \`target\` | see below; a target is e.g. \`user:12\` or \`container:7\` |
| \`detail\` | \`address\` of the request, \`reason\` where one is required, \`before\` and \`after\`, and the facts below; a \`before\` or \`after\` of more than 8 KiB is given as \`{bytes, sha256}\` of its JSON text |

Entries outlive the accounts in them. They contain no token, link or container content, but they do contain e-mail and IP addresses: handle exports accordingly. How the chain of entries proves that none was changed: [verify the audit log](../how-to/verify-the-audit-log.md).`

/** docs/reference/audit-actions.md */
export function auditActionsPage(): string {
  const rows = Object.entries(auditActions).map(([action, { when, detail }]) => [code(action), when, detail])
  return page(
    'Audit actions',
    'api/src/audit-actions.ts',
    introduction,
    '## Actions',
    table(['action', 'when', 'in `detail`'], rows),
  )
}
