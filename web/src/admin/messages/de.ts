import { audit } from './de/audit.ts'
import { containers } from './de/containers.ts'
import { groups } from './de/groups.ts'
import { overview } from './de/overview.ts'
import { shell } from './de/shell.ts'
import { system } from './de/system.ts'
import { table } from './de/table.ts'
import { templates } from './de/templates.ts'
import { termEnd } from './de/term-end.ts'
import { tokens } from './de/tokens.ts'
import { usage } from './de/usage.ts'
import { users } from './de/users.ts'
import type { AdminWords } from './words.ts'

/** The catalogue in German. */
export const admin: AdminWords = {
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
}
