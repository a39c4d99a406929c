import { audit } from './en/audit.ts'
import { containers } from './en/containers.ts'
import { overview } from './en/overview.ts'
import { shell } from './en/shell.ts'
import { system } from './en/system.ts'
import { users } from './en/users.ts'

/** What administrators read, in English; loaded with their pages. */
export const admin = { shell, overview, users, containers, audit, system } as const
