import path from 'node:path'
import type { TracingSettings } from '@berth/gateway/basics/tracer.ts'
import { readTlsPair, type TlsFiles } from '@berth/gateway/basics/tls-pair.ts'
import { readProviders, type Provider } from '#/accounts/oidc/provider-settings.ts'
import { minNodeSecretLength, type ListenAddress, type SharingPartners, type WaysToSignIn } from './setting-values.ts'
import type { SettingReader } from './settings.ts'

/** TLS in Berth itself, without a proxy. */
export interface TlsConfig extends TlsFiles {
  /** Port that redirects from plain HTTP; null for none. */
  readonly redirectPort: number | null
  /** `max-age` of Strict-Transport-Security, in seconds; 0 sends none. */
  readonly hstsMaxAge: number
}

/** `TLS_CERT_FILE`, `TLS_KEY_FILE`, and what belongs to them; the files are read and checked. */
export function readTls(settings: SettingReader): TlsConfig | null {
  const { problems } = settings
  const [cert, key] = [settings.value('TLS_CERT_FILE'), settings.value('TLS_KEY_FILE')]
  const redirectPort = settings.value('HTTP_REDIRECT_PORT')
  const hstsMaxAge = settings.value('HSTS_MAX_AGE')
  if (cert === null && key === null) {
    if (redirectPort !== null) problems.push('HTTP_REDIRECT_PORT: needs TLS_CERT_FILE and TLS_KEY_FILE')
    return null
  }
  if (cert === null || key === null) {
    problems.push('TLS_CERT_FILE and TLS_KEY_FILE: set both, or neither')
    return null
  }
  if (settings.value('PREFERRED_URL_SCHEME') !== 'https')
    problems.push('TLS_CERT_FILE: needs PREFERRED_URL_SCHEME=https')
  // Both processes read them; they have the same working directory.
  const files = { certFile: path.resolve(cert), keyFile: path.resolve(key) }
  const pair = readTlsPair(files)
  if ('problem' in pair) problems.push(`TLS_CERT_FILE and TLS_KEY_FILE: ${pair.problem}`)
  return { ...files, redirectPort, hstsMaxAge }
}

/**
 * `SIGN_IN` and the file of `OIDC_PROVIDERS_FILE`. Without `oidc` in the former there are no providers, but the file is
 * checked all the same.
 */
export function readSignIn(
  settings: SettingReader,
  readFile: (path: string) => string,
): { readonly signIn: WaysToSignIn; readonly providers: readonly Provider[] } {
  const signIn = settings.value('SIGN_IN')
  const file = settings.value('OIDC_PROVIDERS_FILE')
  const providers = readProvidersFile(file, readFile, settings.problems)
  if (!signIn.isByLink && file === null)
    settings.problems.push(
      'SIGN_IN: with oidc alone no user can sign in without OIDC_PROVIDERS_FILE; set that, or SIGN_IN=link',
    )
  return { signIn, providers: signIn.isByProvider ? providers : [] }
}

/** @param file null: none is set */
function readProvidersFile(
  file: string | null,
  readFile: (path: string) => string,
  problems: string[],
): readonly Provider[] {
  if (file === null) return []
  try {
    const read = readProviders(readFile(file), `OIDC_PROVIDERS_FILE (${file})`)
    problems.push(...read.problems)
    return read.providers
  } catch (error) {
    problems.push(`OIDC_PROVIDERS_FILE: cannot read ${file}: ${(error as Error).message}`)
    return []
  }
}

/** Whether, and with whom, users may share their containers. */
export interface SharingConfig extends SharingPartners {
  readonly isOn: boolean
  /** How long a share may last, in seconds. */
  readonly maxDuration: number
}

/** `SHARING` and `SHARE_MAX_DURATION`. */
export function readSharing(settings: SettingReader): SharingConfig {
  const { withPeople, withGroups } = settings.value('SHARING')
  const maxDuration = settings.value('SHARE_MAX_DURATION')
  return { isOn: withPeople || withGroups, withPeople, withGroups, maxDuration }
}

/** Whether snapshots of homes are made. */
export interface SnapshotConfig {
  readonly isOn: boolean
  /** Larger homes are not snapshotted; bytes. */
  readonly maxBytes: number
}

/** `SNAPSHOTS` and `SNAPSHOT_MAX_SIZE`. Neither a cluster nor several nodes can have them. */
export function readSnapshots(settings: SettingReader): SnapshotConfig {
  const { problems } = settings
  const isOn = settings.value('SNAPSHOTS') === 'on'
  if (isOn && settings.value('ENGINE') === 'kubernetes' && settings.given('KUBERNETES_HELPER_IMAGE') === null)
    problems.push(
      'SNAPSHOTS: with ENGINE=kubernetes homes are read by pods of KUBERNETES_HELPER_IMAGE, which is not set; or use snapshots of volumes of the cluster',
    )
  if (isOn && settings.given('NODE_ADDRESS') !== null)
    problems.push('SNAPSHOTS: with NODE_ADDRESS they would be on the disk of one node alone; leave them off')
  return { isOn, maxBytes: settings.value('SNAPSHOT_MAX_SIZE') }
}

/** Who builds images in Berth, and within which limits. */
export interface EnvironmentConfig {
  readonly mode: 'off' | 'admins' | 'managers'
  /** Names that managers may build on; null: see `BUILD_BASES`. */
  readonly bases: readonly string[] | null
  /** Hosts of repositories that managers may name, with a port where they have one. */
  readonly gitHosts: readonly string[]
  readonly parallel: number
  /** Memory and size in bytes, time in ms. */
  readonly limits: {
    readonly memory: number
    readonly cpus: number
    readonly timeout: number
    readonly maxSize: number
  }
}

/** `ENVIRONMENTS` and the settings of builds. */
export function readEnvironments(settings: SettingReader): EnvironmentConfig {
  const mode = settings.value('ENVIRONMENTS')
  if (mode !== 'off' && settings.value('ENGINE') === 'kubernetes')
    settings.problems.push(
      'ENVIRONMENTS: images are built by a Docker Engine, and with ENGINE=kubernetes there is none; leave it off, and build images for the registry of the cluster',
    )
  return {
    mode,
    bases: settings.value('BUILD_BASES'),
    gitHosts: settings.value('BUILD_GIT_HOSTS') ?? [],
    parallel: settings.value('BUILD_PARALLEL'),
    limits: {
      memory: settings.value('BUILD_MEMORY'),
      cpus: settings.value('BUILD_CPUS'),
      timeout: 1_000 * settings.value('BUILD_TIMEOUT'),
      maxSize: settings.value('BUILD_MAX_SIZE'),
    },
  }
}

/** How requests are logged. */
export interface AccessLogConfig {
  readonly format: 'common' | 'json'
  /** Absolute path; null for standard output. */
  readonly file: string | null
}

/** `ACCESS_LOG` and `ACCESS_LOG_FILE`. @returns null when it is off */
export function readAccessLog(settings: SettingReader): AccessLogConfig | null {
  const [format, file] = [settings.value('ACCESS_LOG'), settings.value('ACCESS_LOG_FILE')]
  // Both processes have the same working directory.
  return format === 'off' ? null : { format, file: file === null ? null : path.resolve(file) }
}

/** `OTEL_EXPORTER_OTLP_ENDPOINT` and what belongs to it. @returns null without it */
export function readTracing(settings: SettingReader): TracingSettings | null {
  const endpoint = settings.value('OTEL_EXPORTER_OTLP_ENDPOINT')
  if (endpoint === null) return null
  return {
    endpoint,
    headers: settings.value('OTEL_EXPORTER_OTLP_HEADERS') ?? {},
    serviceName: settings.value('OTEL_SERVICE_NAME'),
    ratio: settings.value('OTEL_TRACES_SAMPLER_ARG'),
  }
}

/** Where entries of the audit log are delivered. */
export interface AuditWebhookConfig {
  readonly url: string
  /** Decoded; the first one is the present one. */
  readonly secrets: readonly Buffer[]
}

/** `AUDIT_WEBHOOK_URL` and `AUDIT_WEBHOOK_SECRET`: both or neither. */
export function readAuditWebhook(settings: SettingReader): AuditWebhookConfig | null {
  const names = ['AUDIT_WEBHOOK_URL', 'AUDIT_WEBHOOK_SECRET'] as const
  const set = names.filter((name) => settings.given(name) !== null)
  if (set.length === 1) settings.problems.push('AUDIT_WEBHOOK_URL and AUDIT_WEBHOOK_SECRET: set both, or neither')
  if (set.length < 2) return null
  const [url, secrets] = [settings.value('AUDIT_WEBHOOK_URL'), settings.value('AUDIT_WEBHOOK_SECRET')]
  return url === null || secrets === null ? null : { url, secrets }
}

/** Settings of `ENGINE=kubernetes`. */
export interface KubernetesConfig {
  /** Undefined: the service account of the pod that this process runs in. */
  readonly kubeconfig: string | undefined
  /** Null: that of the context. */
  readonly namespace: string | null
  /** Null: the cluster's default. */
  readonly storageClass: string | null
  /** Image of pods that read and write homes; null: homes are out of reach. */
  readonly helperImage: string | null
  /** Image that brings the container tool into pods; null without `SSH_LISTEN`, too. */
  readonly toolImage: string | null
}

/** @param readFile the same as that of `readConfig` @returns null with `ENGINE=docker` */
export function readKubernetes(settings: SettingReader, readFile: (path: string) => string): KubernetesConfig | null {
  if (settings.value('ENGINE') !== 'kubernetes') return null
  const kubeconfig = settings.value('KUBECONFIG') ?? undefined
  const namespace = settings.value('KUBERNETES_NAMESPACE')
  const storageClass = settings.value('KUBERNETES_STORAGE_CLASS')
  const helperImage = settings.value('KUBERNETES_HELPER_IMAGE')
  const toolImage = settings.value('SSH_LISTEN') === null ? null : settings.value('KUBERNETES_TOOL_IMAGE')
  for (const file of kubeconfig?.split(path.delimiter) ?? [])
    settings.problems.push(...problemsOfKubeconfig(file, readFile))
  return { kubeconfig, namespace, storageClass, helperImage, toolImage }
}

/** Several files are separated by colons, between which there may be nothing. */
function problemsOfKubeconfig(file: string, readFile: (path: string) => string): string[] {
  try {
    if (file !== '') readFile(file)
    return []
  } catch (error) {
    return [`KUBECONFIG: ${file} cannot be read: ${(error as Error).message}`]
  }
}

/** This node, as one of several. */
export interface NodeConfig {
  /** Where the other nodes reach it. */
  readonly address: ListenAddress
  /** Null: the keys in the database are not encrypted; a warning says so at the start. */
  readonly secret: string | null
}

/** `NODE_ADDRESS`, and what several nodes need. @returns null for a single node */
export function readNode(settings: SettingReader): NodeConfig | null {
  if (settings.given('NODE_ADDRESS') === null) return null
  const [address, secret] = [settings.value('NODE_ADDRESS'), settings.value('NODE_SECRET')]
  const needs: [boolean, string][] = [
    [
      /^postgres(ql)?:/.test(settings.given('DATABASE_URL') ?? ''),
      'several nodes need PostgreSQL: set DATABASE_URL=postgres://...',
    ],
    [
      secret === null || secret.length >= minNodeSecretLength,
      `set NODE_SECRET to at least ${minNodeSecretLength} characters, the same on all nodes, e.g. from: openssl rand -base64 32`,
    ],
  ]
  settings.problems.push(...needs.filter(([isMet]) => !isMet).map(([, words]) => `NODE_ADDRESS: ${words}`))
  return address && { address, secret }
}
