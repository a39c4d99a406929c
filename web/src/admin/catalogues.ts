import { audit } from '#/admin/messages/audit.ts'
import { containers, templates } from '#/admin/messages/containers.ts'
import { groups, termEnd } from '#/admin/messages/groups.ts'
import { shell, table } from '#/admin/messages/shell.ts'
import { overview, system } from '#/admin/messages/system.ts'
import { usage } from '#/admin/messages/usage.ts'
import { tokens, users } from '#/admin/messages/users.ts'

/** The texts for administrators, loaded with their pages. */
export const admin = {
  shell,
  overview,
  table,
  tokens,
  users,
  containers,
  groups,
  termEnd,
  templates,
  audit,
  system,
  usage,
} as const
