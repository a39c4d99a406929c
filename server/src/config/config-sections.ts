import path from 'node:path'
import { isLoopbackHost } from '@berth/gateway/basics/ip-address.ts'
import { readTlsPair, type TlsFiles } from '@berth/gateway/basics/tls-pair.ts'
import { readProviders, type Provider } from '#/accounts/oidc/provider-settings.ts'
import type { SettingName } from './setting-descriptions.ts'
import { Problem, list, listenAddress, size, whole, type ListenAddress } from './setting-values.ts'

/** TLS in Berth itself, without a proxy. */
export interface TlsConfig extends TlsFiles {
  /** Port that redirects from plain HTTP; null for none. */
  readonly redirectPort: number | null
  /** `max-age` of Strict-Transport-Security, in seconds; 0 sends none. */
  readonly hstsMaxAge: number
}

const year = 31_536_000

/**
 * `TLS_CERT_FILE`, `TLS_KEY_FILE`, and what belongs to them; the files are read and checked.
 * @param problems gets a sentence for each problem found
 */
export function readTls(text: (name: SettingName) => string | null, problems: string[]): TlsConfig | null {
  const [cert, key] = [text('TLS_CERT_FILE'), text('TLS_KEY_FILE')]
  const number = (name: SettingName, fallback: number | null, min: number, max: number) => {
    const value = text(name)
    const read = value === null ? fallback : whole(min, max)(value)
    if (!(read instanceof Problem)) return read
    problems.push(`${name}: ${read.words}`)
    return fallback
  }
  const redirectPort = number('HTTP_REDIRECT_PORT', null, 1, 65_535)
  const hstsMaxAge = number('HSTS_MAX_AGE', year, 0, 2 * year) ?? year
  const scheme = text('PREFERRED_URL_SCHEME')
  if (cert === null && key === null) {
    if (redirectPort !== null) problems.push('HTTP_REDIRECT_PORT: needs TLS_CERT_FILE and TLS_KEY_FILE')
    return null
  }
  if (cert === null || key === null) {
    problems.push('TLS_CERT_FILE and TLS_KEY_FILE: set both, or neither')
    return null
  }
  if (scheme !== 'https') problems.push('TLS_CERT_FILE: needs PREFERRED_URL_SCHEME=https')
  // Both processes read them; they have the same working directory.
  const files = { certFile: path.resolve(cert), keyFile: path.resolve(key) }
  const pair = readTlsPair(files)
  if ('problem' in pair) problems.push(`TLS_CERT_FILE and TLS_KEY_FILE: ${pair.problem}`)
  return { ...files, redirectPort, hstsMaxAge }
}

/** How people sign in: at least one of the two. */
export interface WaysToSignIn {
  readonly isByLink: boolean
  readonly isByProvider: boolean
}

/**
 * `SIGN_IN` and the file of `OIDC_PROVIDERS_FILE`. Without `oidc` in the former there are no providers, but the file is
 * checked all the same.
 * @param problems gets a sentence for each problem found
 */
export function readSignIn(
  text: (name: SettingName) => string | null,
  readFile: (path: string) => string,
  problems: string[],
): { readonly signIn: WaysToSignIn; readonly providers: readonly Provider[] } {
  const signIn = waysIn(text('SIGN_IN') ?? 'link,oidc')
  const file = text('OIDC_PROVIDERS_FILE')
  const providers = readProvidersFile(file, readFile, problems)
  if (!signIn) problems.push('SIGN_IN: must be link, oidc or link,oidc')
  else if (!signIn.isByLink && file === null)
    problems.push('SIGN_IN: with oidc alone no user can sign in without OIDC_PROVIDERS_FILE; set that, or SIGN_IN=link')
  return {
    signIn: signIn ?? { isByLink: true, isByProvider: true },
    providers: signIn?.isByProvider ? providers : [],
  }
}

function waysIn(value: string): WaysToSignIn | undefined {
  const ways = value.split(',').map((way) => way.trim())
  if (ways.some((way) => way !== 'link' && way !== 'oidc')) return undefined
  return { isByLink: ways.includes('link'), isByProvider: ways.includes('oidc') }
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
export interface SharingConfig {
  readonly isOn: boolean
  readonly withPeople: boolean
  readonly withGroups: boolean
  /** How long a share may last, in seconds. */
  readonly maxDuration: number
}

/** `SHARING` and `SHARE_MAX_DURATION`. @param problems gets a sentence for each problem found */
export function readSharing(text: (name: SettingName) => string | null, problems: string[]): SharingConfig {
  const words = list(text('SHARING') ?? 'off')
  const isRight = words.length === 1 ? /^(off|people|groups)$/.test(words[0] ?? '') : isPeopleAndGroups(words)
  if (!isRight) problems.push('SHARING: must be off, people, groups or people,groups')
  const duration = text('SHARE_MAX_DURATION')
  const seconds = duration === null ? defaultShareDuration : whole(60, 31_536_000)(duration)
  if (seconds instanceof Problem) problems.push(`SHARE_MAX_DURATION: ${seconds.words}`)
  const [withPeople, withGroups] = [words.includes('people'), words.includes('groups')]
  const maxDuration = seconds instanceof Problem ? defaultShareDuration : seconds
  return { isOn: withPeople || withGroups, withPeople, withGroups, maxDuration }
}

/** 30 days, in seconds. */
const defaultShareDuration = 2_592_000

const isPeopleAndGroups = (words: readonly string[]) =>
  words.length === 2 && words.includes('people') && words.includes('groups')

/** Whether snapshots of homes are made. */
export interface SnapshotConfig {
  readonly isOn: boolean
  /** Larger homes are not snapshotted; bytes. */
  readonly maxBytes: number
}

/**
 * `SNAPSHOTS` and `SNAPSHOT_MAX_SIZE`. Neither a cluster nor several nodes can have them.
 * @param problems gets a sentence for each problem found
 */
export function readSnapshots(text: (name: SettingName) => string | null, problems: string[]): SnapshotConfig {
  const value = text('SNAPSHOTS') ?? 'off'
  if (value !== 'on' && value !== 'off') problems.push('SNAPSHOTS: must be on or off')
  if (value === 'on' && text('ENGINE') === 'kubernetes' && text('KUBERNETES_HELPER_IMAGE') === null)
    problems.push(
      'SNAPSHOTS: with ENGINE=kubernetes homes are read by pods of KUBERNETES_HELPER_IMAGE, which is not set; or use snapshots of volumes of the cluster',
    )
  if (value === 'on' && text('NODE_ADDRESS') !== null)
    problems.push('SNAPSHOTS: with NODE_ADDRESS they would be on the disk of one node alone; leave them off')
  const limit = size(text('SNAPSHOT_MAX_SIZE') ?? '4g')
  if (limit instanceof Problem) problems.push(`SNAPSHOT_MAX_SIZE: ${limit.words}`)
  return { isOn: value === 'on', maxBytes: limit instanceof Problem ? 0 : limit }
}

/** How requests are logged. */
export interface AccessLogConfig {
  readonly format: 'common' | 'json'
  /** Absolute path; null for standard output. */
  readonly file: string | null
}

/**
 * `ACCESS_LOG` and `ACCESS_LOG_FILE`.
 * @param problems gets a sentence for each problem found
 * @returns null when it is off
 */
export function readAccessLog(text: (name: SettingName) => string | null, problems: string[]): AccessLogConfig | null {
  const [format, file] = [text('ACCESS_LOG') ?? 'off', text('ACCESS_LOG_FILE')]
  if (format === 'off') return null
  // Both processes have the same working directory.
  if (format === 'common' || format === 'json') return { format, file: file === null ? null : path.resolve(file) }
  problems.push('ACCESS_LOG: must be off, common or json')
  return null
}

/** Where entries of the audit log are delivered. */
export interface AuditWebhookConfig {
  readonly url: string
  /** Decoded; the first one is the present one. */
  readonly secrets: readonly Buffer[]
}

/** Bytes of a secret (Standard Webhooks 1.0.0, "Signature scheme"). */
const [minSecretBytes, maxSecretBytes] = [24, 64]

/**
 * `AUDIT_WEBHOOK_URL` and `AUDIT_WEBHOOK_SECRET`: both or neither.
 * @param problems gets a sentence for each problem found, without the values
 */
export function readAuditWebhook(
  text: (name: SettingName) => string | null,
  problems: string[],
): AuditWebhookConfig | null {
  const [url, given] = [text('AUDIT_WEBHOOK_URL'), text('AUDIT_WEBHOOK_SECRET')]
  if (url === null && given === null) return null
  if (url === null || given === null) {
    problems.push('AUDIT_WEBHOOK_URL and AUDIT_WEBHOOK_SECRET: set both, or neither')
    return null
  }
  const problem = problemOfWebhookUrl(url)
  if (problem !== undefined) problems.push(`AUDIT_WEBHOOK_URL: ${problem}`)
  const secrets = given.split(/\s+/).map(readWebhookSecret)
  if (secrets.includes(undefined))
    problems.push(
      `AUDIT_WEBHOOK_SECRET: must be whsec_ and ${minSecretBytes} to ${maxSecretBytes} bytes in base64; several are separated by spaces`,
    )
  return { url, secrets: secrets.filter((secret) => secret !== undefined) }
}

/** Entries have addresses of people: they travel encrypted, or not beyond this machine. */
function problemOfWebhookUrl(url: string): string | undefined {
  const parsed = URL.parse(url)
  if (!parsed || !['https:', 'http:'].includes(parsed.protocol)) return 'must be an address that begins with https://'
  if (parsed.username !== '' || parsed.password !== '') return 'must not contain a user name or a password'
  const isPlain = parsed.protocol === 'http:'
  return isPlain && !isLoopbackHost(parsed.hostname)
    ? 'must begin with https://; http:// is accepted for a loopback address only'
    : undefined
}

function readWebhookSecret(text: string): Buffer | undefined {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  const bytes = base64 === undefined ? undefined : Buffer.from(base64, 'base64')
  return bytes && bytes.length >= minSecretBytes && bytes.length <= maxSecretBytes ? bytes : undefined
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
}

/** Names of namespaces (RFC 1123 labels), and of storage classes (RFC 1123 subdomains). */
const [namespaceName, storageClassName] = [
  /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
  /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/,
]

/**
 * @param readFile as of `readConfig`
 * @param problems gets a sentence for each value that is wrong
 * @returns null with `ENGINE=docker`
 */
export function readKubernetes(
  text: (name: SettingName) => string | null,
  readFile: (path: string) => string,
  problems: string[],
): KubernetesConfig | null {
  const engine = text('ENGINE') ?? 'docker'
  const [namespace, storageClass] = [text('KUBERNETES_NAMESPACE'), text('KUBERNETES_STORAGE_CLASS')]
  const kubeconfig = text('KUBECONFIG') ?? undefined
  const helperImage = text('KUBERNETES_HELPER_IMAGE')
  if (engine !== 'docker' && engine !== 'kubernetes') problems.push('ENGINE: must be docker or kubernetes')
  if (engine !== 'kubernetes') return null
  if (namespace !== null && !namespaceName.test(namespace))
    problems.push('KUBERNETES_NAMESPACE: must be lower-case letters, digits and hyphens, at most 63')
  if (storageClass !== null && !storageClassName.test(storageClass))
    problems.push('KUBERNETES_STORAGE_CLASS: must be lower-case letters, digits, dots and hyphens')
  if (helperImage !== null && /\s/.test(helperImage))
    problems.push('KUBERNETES_HELPER_IMAGE: must be the name of an image, such as busybox:1.36')
  for (const file of kubeconfig?.split(path.delimiter) ?? []) problems.push(...problemsOfKubeconfig(file, readFile))
  return { kubeconfig, namespace, storageClass, helperImage }
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

const minNodeSecretLength = 32

/**
 * `NODE_ADDRESS`, and what several nodes need.
 * @param problems gets a sentence for each problem, without values @returns null for a single node
 */
export function readNode(text: (name: SettingName) => string | null, problems: string[]): NodeConfig | null {
  const [given, secret] = [text('NODE_ADDRESS'), text('NODE_SECRET')]
  if (given === null) return null
  const address = listenAddress(given)
  const needs: [boolean, string][] = [
    [!(address instanceof Problem), `must be host:port, e.g. 10.0.0.5:7070`],
    [
      /^postgres(ql)?:/.test(text('DATABASE_URL') ?? ''),
      'several nodes need PostgreSQL: set DATABASE_URL=postgres://...',
    ],
    [
      secret === null || secret.length >= minNodeSecretLength,
      `set NODE_SECRET to at least ${minNodeSecretLength} characters, the same on all nodes, e.g. from: openssl rand -base64 32`,
    ],
  ]
  problems.push(...needs.filter(([isMet]) => !isMet).map(([, words]) => `NODE_ADDRESS: ${words}`))
  return address instanceof Problem ? null : { address, secret }
}
