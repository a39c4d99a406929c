import { statfsSync } from 'node:fs'
import { isIP } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { isLoopback } from '@berth/gateway/basics/ip-address.ts'
import { coversHost, readTlsPair } from '@berth/gateway/basics/tls-pair.ts'
import { formatBytes, list, message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { mayTravelPlain } from '#/accounts/mail/mail-transport.ts'
import { platformNameIn, type Addresses, type Config } from './config.ts'

/**
 * Configuration warnings: settings that disable a protection, or have no effect. The one list, logged at the start,
 * printed by `berth config check` and shown on the page System; warnings that depend on traffic are added there.
 * @param totalMemory bytes of memory of the machine
 * @param fileSystemOf type of the file system of a folder, by statfs(2)
 */
export function configWarnings(
  config: Config,
  addresses: Addresses,
  totalMemory = os.totalmem(),
  fileSystemOf = fileSystemMagic,
): LocalizedMessage[] {
  return [
    ...addressWarnings(config, addresses),
    ...proxyWarnings(config),
    ...certificateWarnings(config),
    ...metricsWarnings(config),
    ...sshWarnings(config, addresses),
    ...mailServerWarnings(config, addresses),
    ...(config.smtpUrl !== null && mayTravelPlain(config.smtpUrl, config.smtpTls)
      ? [message('findings.plainMail', { host: new URL(config.smtpUrl).hostname })]
      : []),
    ...(config.node?.secret === null ? [message('findings.noNodeSecret')] : []),
    ...(config.hostRules === 'off' ? [message('findings.noHostRules')] : []),
    ...(config.requestsPerMinute === 0 ? [message('findings.noRequestLimit')] : []),
    ...providerWarnings(config),
    ...storeWarnings(config, fileSystemOf),
    ...memoryWarnings(config, totalMemory),
    ...sharedHomeWarnings(config),
    ...[...(config.sources.unusable ?? [])].map(([place, reason]) =>
      message('findings.unusableFileSystem', { place, reason }),
    ),
    ...(config.containerRouting === 'path'
      ? [...visitorWarnings(config), ...sandboxWarnings(config)]
      : subdomainWarnings(config)),
  ]
}

function mailServerWarnings({ smtpUrl, node }: Config, addresses: Addresses): LocalizedMessage[] {
  if (smtpUrl !== null) return []
  if (node !== null) return [message('findings.outboxOfEachNode')]
  return isLocal(addresses) ? [] : [message('findings.noMailServer', { url: addresses.frontendUrl })]
}

/**
 * Types that share a home (`home_of: user`) and are the same application, as far as image and probe tell: images such as
 * those of languages have different ones.
 */
function sharedHomeWarnings({ templates }: Config): LocalizedMessage[] {
  const sharing = templates.all().filter(({ home, homeOf }) => home !== null && homeOf === 'user')
  const applications = Map.groupBy(sharing, ({ image, command, idleProbe }) =>
    JSON.stringify([image.replace(/@.*$|:[^/]*$/, ''), idleProbe ?? command]),
  )
  return [...applications.values()]
    .filter(({ length }) => length > 1)
    .map((same) =>
      message('findings.sameApplicationSharesHome', {
        types: list(
          'comma',
          same.map(({ type }) => type),
        ),
      }),
    )
}

/** Whether the address can be reached from this machine alone. */
const isLocal = ({ cookieDomain }: Addresses) => /(^|\.)localhost$|^127\./.test(cookieDomain)

const isThisMachineAlone = (host: string) => host === 'localhost' || isLoopback(host)

function addressWarnings(config: Config, addresses: Addresses): LocalizedMessage[] {
  const { spawnerUrl, frontendUrl, cookieDomain } = addresses
  const leadsNowhere = isIP(cookieDomain) !== 0 && config.spawnerSubdomain !== ''
  const isPlain = frontendUrl.startsWith('http:') && !isLocal(addresses)
  const isOpen = config.scheme === 'http' && !isPlain && !isThisMachineAlone(config.host)
  return [
    ...(leadsNowhere ? [message('findings.nowhere', { url: spawnerUrl })] : []),
    ...(isPlain ? [message('findings.plainHttp', { url: frontendUrl })] : []),
    ...(isOpen ? [message('findings.openListener', { host: config.host })] : []),
  ]
}

function proxyWarnings({ scheme, tls, trustedProxies }: Config): LocalizedMessage[] {
  if (trustedProxies.length === 0) return scheme === 'https' && tls === null ? [message('findings.noTrustedProxy')] : []
  const anyNetwork = trustedProxies.find((network) => /\/0+$/.test(network))
  return anyNetwork === undefined ? [] : [message('findings.anyTrustedProxy', { network: anyNetwork })]
}

/** When a certificate that ends is reported, in ms before. */
const certificateNotice = 14 * 86_400_000

function certificateWarnings({ tls }: Config): LocalizedMessage[] {
  const pair = tls && readTlsPair(tls)
  if (!pair || 'problem' in pair || pair.validTo.getTime() - Date.now() > certificateNotice) return []
  return [message('findings.certificateEnds', { file: tls.certFile, at: pair.validTo.toISOString() })]
}

function metricsWarnings({ metricsListen, metricsToken }: Config): LocalizedMessage[] {
  if (metricsListen === null || metricsToken !== null || isThisMachineAlone(metricsListen.host)) return []
  return [message('findings.openMetrics', { listen: metricsListen.text })]
}

/** A proxy for HTTP passes no SSH on, so a listener on the loopback is reached from this machine alone. */
function sshWarnings({ sshListen, kubernetes }: Config, addresses: Addresses): LocalizedMessage[] {
  if (sshListen === null) return []
  const isUnreached = !isLocal(addresses) && isThisMachineAlone(sshListen.host)
  return [
    ...(kubernetes === null || kubernetes.toolImage !== null ? [] : [message('findings.sshOnKubernetes')]),
    ...(isUnreached ? [message('findings.sshOnLoopback', { listen: sshListen.text })] : []),
  ]
}

/** Users who open each other's containers on one origin: see decision 032. */
function visitorWarnings({ templates }: Config): LocalizedMessage[] {
  return templates.all().flatMap(({ type, access, sandboxVisitors }) => {
    if (access === 'owner') return []
    if (!sandboxVisitors) return message('findings.openVisitors', { type, access })
    return message(access === 'public' ? 'findings.publicSandbox' : 'findings.authenticatedSandbox', { type })
  })
}

/** Types that can be shared, and whose visitors get a sandbox. */
function sandboxWarnings({ sharing, templates }: Config): LocalizedMessage[] {
  const types = templates.all().filter(({ access, sandboxVisitors }) => access === 'owner' && sandboxVisitors)
  if (!sharing.isOn || types.length === 0) return []
  return [message('sharing.sandboxed', { types: types.map(({ type }) => type).join(', ') })]
}

/** What subdomain routing lacks. `strip_prefix` is no finding: templates of the catalogue have it for both routing modes. */
function subdomainWarnings({ tls, baseDomain, spawnerSubdomain }: Config): LocalizedMessage[] {
  const host = platformNameIn(baseDomain, spawnerSubdomain)
  const pair = tls && readTlsPair(tls)
  const isCovered = !pair || 'problem' in pair || coversHost(pair, `any-container.${host}`)
  return isCovered ? [] : [message('findings.noWildcard', { file: tls?.certFile ?? '', host })]
}

/**
 * SQLite shares memory between its connections (WAL) and relies on locks: neither is certain on a network file system.
 */
function storeWarnings({ databaseUrl, dataDir }: Config, fileSystemOf: typeof fileSystemMagic): LocalizedMessage[] {
  if (databaseUrl !== null) return []
  const fileSystem = networkFileSystem(fileSystemOf(dataDir) ?? 0)
  return fileSystem === undefined ? [] : [message('findings.networkFileSystem', { folder: dataDir, fileSystem })]
}

/** At GitLab users make groups: one of theirs, named as a group of Berth, would make them its members. */
function providerWarnings({ providers }: Config): LocalizedMessage[] {
  return providers.flatMap(({ id, issuer, groupsClaim, memberGroups }) =>
    groupsClaim !== null && memberGroups === null && (groupsClaim === 'groups_direct' || isGitLab(issuer))
      ? [message('findings.groupsOfUsers', { provider: id, claim: groupsClaim })]
      : [],
  )
}

const isGitLab = (issuer: string) => new URL(issuer).hostname === 'gitlab.com'

/** Every template has a memory limit, 2g by default; one above the machine's memory has no effect. */
function memoryWarnings({ templates }: Config, totalMemory: number): LocalizedMessage[] {
  const large = templates.all().filter(({ memory }) => memory >= totalMemory)
  if (large.length === 0) return []
  const limit = formatBytes(Math.min(...large.map(({ memory }) => memory)))
  const types = large.map(({ type }) => type).join(', ')
  return [message('findings.noMemoryLimit', { types, limit, total: formatBytes(totalMemory) })]
}

/** Types of file systems by `f_type`. Source: linux/magic.h; cifs and smb2 are two names of one protocol. */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9p'],
])

/** Name of a network file system; undefined for every other one. @param type of statfs(2) */
export const networkFileSystem = (type: number): string | undefined => networkFileSystems.get(type)

/**
 * Magic number of the file system of a folder, or of the one in which it would be made.
 * @returns undefined when it cannot be found out
 */
export function fileSystemMagic(folder: string): number | undefined {
  for (let at = path.resolve(folder); ; at = path.dirname(at))
    try {
      return statfsSync(at).type
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || at === path.dirname(at)) return undefined
    }
}
