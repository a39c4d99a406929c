import type { Language } from '@berth/api/boot.ts'
import type { admin } from '#/admin/messages/en.ts'
import type { archive } from '#/messages/en/archive.ts'
import type { apiDocs } from '#/messages/en/api-docs.ts'
import type { sessions } from '#/messages/en/sessions.ts'
import type { tokens } from '#/messages/en/tokens.ts'
import type { data } from '#/messages/en/data.ts'
import type { groups } from '#/messages/en/groups.ts'
import type { sharing } from '#/messages/en/sharing.ts'
import type { snapshots } from '#/messages/en/snapshots.ts'
import type { en } from '#/messages/en.ts'

/** `t('…')` accepts existing keys only, with the values that their English text names. */
declare module 'use-intl' {
  interface AppConfig {
    Locale: Language
    Messages: typeof en & {
      admin: typeof admin
      apiDocs: typeof apiDocs
      archive: typeof archive
      data: typeof data
      groups: typeof groups
      sessions: typeof sessions
      sharing: typeof sharing
      tokens: typeof tokens
      snapshots: typeof snapshots
    }
  }
}
