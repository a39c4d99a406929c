import { audit } from './en/audit.ts'
import { containers } from './en/containers.ts'
import { groups } from './en/groups.ts'
import { overview } from './en/overview.ts'
import { shell } from './en/shell.ts'
import { system } from './en/system.ts'
import { table } from './en/table.ts'
import { templates } from './en/templates.ts'
import { termEnd } from './en/term-end.ts'
import { tokens } from './en/tokens.ts'
import { usage } from './en/usage.ts'
import { users } from './en/users.ts'

/** The texts for administrators, in English; loaded with their pages. */
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
