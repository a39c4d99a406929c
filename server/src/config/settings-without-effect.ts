import type { SettingName } from './setting-descriptions.ts'

type Settings = Readonly<Record<string, string | undefined>>

/** A setting that counts together with another one alone. */
interface Dependent {
  readonly setting: SettingName
  /** Whether the other one is set so that it counts. */
  readonly counts: (value: (name: SettingName) => string) => boolean
  /** What is so otherwise, for the end of a sentence. */
  readonly otherwise: string
}

const onKubernetes = {
  counts: (value: (name: SettingName) => string) => value('ENGINE') === 'kubernetes',
  otherwise: 'ENGINE is not kubernetes',
}

/** Not KUBECONFIG, which shells set for other programs; nor MAIL_FROM, which the outbox uses, too. */
const dependents: readonly Dependent[] = [
  {
    setting: 'ACCESS_LOG_FILE',
    counts: (value) => !['', 'off'].includes(value('ACCESS_LOG')),
    otherwise: 'ACCESS_LOG is off, and no request is logged',
  },
  {
    setting: 'HSTS_MAX_AGE',
    counts: (value) => value('TLS_CERT_FILE') !== '',
    otherwise: 'without TLS_CERT_FILE the proxy in front sends Strict-Transport-Security, or none',
  },
  { setting: 'SMTP_TLS', counts: (value) => value('SMTP_URL') !== '', otherwise: 'SMTP_URL is not set' },
  { setting: 'NODE_SECRET', counts: (value) => value('NODE_ADDRESS') !== '', otherwise: 'NODE_ADDRESS is not set' },
  { setting: 'SNAPSHOT_MAX_SIZE', counts: (value) => value('SNAPSHOTS') === 'on', otherwise: 'SNAPSHOTS is off' },
  {
    setting: 'SHARE_MAX_DURATION',
    counts: (value) => !['', 'off'].includes(value('SHARING')),
    otherwise: 'SHARING is off',
  },
  {
    setting: 'MEASURE_USAGE',
    counts: (value) => value('KEEP_USAGE_DAYS') !== '0' || value('KEEP_USAGE_MONTHS') !== '0',
    otherwise: 'KEEP_USAGE_DAYS and KEEP_USAGE_MONTHS are 0, and no use is recorded',
  },
  { setting: 'KUBERNETES_NAMESPACE', ...onKubernetes },
  { setting: 'KUBERNETES_STORAGE_CLASS', ...onKubernetes },
  { setting: 'KUBERNETES_HELPER_IMAGE', ...onKubernetes },
]

/** A sentence for each setting that is there and counts only with another one, which is not set so. Without values: some are secrets. */
export function settingsWithoutEffect(env: Settings): string[] {
  const value = (name: SettingName) => env[name]?.trim() ?? ''
  return dependents
    .filter(({ setting, counts }) => value(setting) !== '' && !counts(value))
    .map(({ setting, otherwise }) => `${setting} has no effect: ${otherwise}`)
}
