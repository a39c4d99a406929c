import type { Language } from '@berth/api/boot.ts'
import type { admin } from '#/admin/catalogues.ts'
import type { archive } from './archive.ts'
import type { classLink, connect, logs, parameters, ports, shortcuts } from './card-dialogs.ts'
import type { checkMail } from './check-mail.ts'
import type { data, sessions } from './account.ts'
import type { sshKeys } from './ssh-keys.ts'
import type { environments } from './environments.ts'
import type { tokens } from './tokens.ts'
import type { groups } from './groups.ts'
import type { launch } from './launch.ts'
import type { sharing } from './sharing.ts'
import type { files } from './files.ts'
import type { snapshots } from './snapshots.ts'
import type { en } from '#/i18n/catalogues.ts'

/** `t('…')` accepts existing keys only, with the values that their English text names. */
declare module 'use-intl' {
  interface AppConfig {
    Locale: Language
    Messages: typeof en & {
      admin: typeof admin
      archive: typeof archive
      checkMail: typeof checkMail
      classLink: typeof classLink
      connect: typeof connect
      data: typeof data
      environments: typeof environments
      groups: typeof groups
      launch: typeof launch
      logs: typeof logs
      parameters: typeof parameters
      ports: typeof ports
      sessions: typeof sessions
      sharing: typeof sharing
      shortcuts: typeof shortcuts
      sshKeys: typeof sshKeys
      tokens: typeof tokens
      files: typeof files
      snapshots: typeof snapshots
    }
  }
}
