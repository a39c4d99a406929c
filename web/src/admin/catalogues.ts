import { audit, germanAudit } from '#/admin/messages/audit.ts'
import { containers, germanContainers, germanTemplates, templates } from '#/admin/messages/containers.ts'
import { germanGroups, germanTermEnd, groups, termEnd } from '#/admin/messages/groups.ts'
import { germanShell, germanTable, shell, table } from '#/admin/messages/shell.ts'
import { germanOverview, germanSystem, overview, system } from '#/admin/messages/system.ts'
import { germanUsage, usage } from '#/admin/messages/usage.ts'
import { germanTokens, germanUsers, tokens, users } from '#/admin/messages/users.ts'
import type { InOtherWords } from '#/messages/in-other-words.ts'

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

/** The catalogue in German. */
export const germanAdmin: InOtherWords<typeof admin> = {
  shell: germanShell,
  overview: germanOverview,
  table: germanTable,
  tokens: germanTokens,
  users: germanUsers,
  containers: germanContainers,
  groups: germanGroups,
  termEnd: germanTermEnd,
  templates: germanTemplates,
  audit: germanAudit,
  system: germanSystem,
  usage: germanUsage,
}
