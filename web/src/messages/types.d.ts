import type { Language } from '@berth/api/boot.ts'
import type { admin } from '#/admin/catalogues.ts'
import type * as english from '#/i18n/english.ts'
import type { InEnglish } from '#/i18n/texts.ts'
import type { data, sessions } from './account.ts'
import type { archive } from './archive.ts'
import type { classLink, connect, logs, parameters, ports, shortcuts } from './card-dialogs.ts'
import type { checkMail } from './check-mail.ts'
import type { environments } from './environments.ts'
import type { files } from './files.ts'
import type { groups } from './groups.ts'
import type { launch } from './launch.ts'
import type { sharing } from './sharing.ts'
import type { snapshots } from './snapshots.ts'
import type { sshKeys } from './ssh-keys.ts'
import type { tokens } from './tokens.ts'

/** Catalogues that are loaded with the pages that use them. */
interface LoadedWithTheirPages {
  readonly admin: typeof admin
  readonly archive: typeof archive
  readonly checkMail: typeof checkMail
  readonly classLink: typeof classLink
  readonly connect: typeof connect
  readonly data: typeof data
  readonly environments: typeof environments
  readonly groups: typeof groups
  readonly launch: typeof launch
  readonly logs: typeof logs
  readonly parameters: typeof parameters
  readonly ports: typeof ports
  readonly sessions: typeof sessions
  readonly sharing: typeof sharing
  readonly shortcuts: typeof shortcuts
  readonly sshKeys: typeof sshKeys
  readonly tokens: typeof tokens
  readonly files: typeof files
  readonly snapshots: typeof snapshots
}

/** `t('…')` accepts existing keys only, with the values that their English text names. */
declare module 'use-intl' {
  interface AppConfig {
    Locale: Language
    Messages: InEnglish<typeof english & LoadedWithTheirPages>
  }
}
