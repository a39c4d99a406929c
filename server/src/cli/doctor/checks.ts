import type { Config } from '#/config/config.ts'
import type { Check } from './check.ts'
import { checkCluster } from './checks/cluster/check-cluster.ts'
import { checkPolicies } from './checks/cluster/check-policies.ts'
import { checkQuotas } from './checks/cluster/check-quotas.ts'
import { checkRights } from './checks/cluster/check-rights.ts'
import { checkStorage } from './checks/cluster/check-storage.ts'
import { checkBackups } from './checks/installation/check-backups.ts'
import { checkNodes } from './checks/installation/check-nodes.ts'
import { checkService } from './checks/installation/check-service.ts'
import { checkSettings } from './checks/installation/check-settings.ts'
import { checkStoreAnswers } from './checks/installation/check-store-answers.ts'
import { checkAddressPools } from './checks/host/check-address-pools.ts'
import { checkClock } from './checks/host/check-clock.ts'
import { checkDisk } from './checks/host/check-disk.ts'
import { checkEngine } from './checks/host/check-engine.ts'
import { checkHostRules } from './checks/host/check-host-rules.ts'
import { checkImages } from './checks/host/check-images.ts'
import { checkInotify } from './checks/host/check-inotify.ts'
import { checkContainerHosts } from './checks/network/check-container-hosts.ts'
import { checkCookieDomain } from './checks/network/check-cookie-domain.ts'
import { checkDns } from './checks/network/check-dns.ts'
import { checkMailDomain } from './checks/network/check-mail-domain.ts'
import { checkMailServer } from './checks/network/check-mail-server.ts'
import { checkPorts } from './checks/network/check-ports.ts'
import { checkProxy } from './checks/network/check-proxy.ts'
import { checkTls } from './checks/network/check-tls.ts'

/** All checks, in the order in which findings of one level are shown. */
export const allChecks: readonly Check[] = [
  { name: 'engine', run: checkEngine },
  { name: 'host rules', run: checkHostRules },
  { name: 'dns', run: checkDns },
  { name: 'ports', run: checkPorts },
  { name: 'tls', run: checkTls },
  { name: 'container hosts', run: checkContainerHosts },
  { name: 'cookie domain', run: checkCookieDomain },
  { name: 'proxy', run: checkProxy },
  { name: 'store', run: checkStoreAnswers },
  { name: 'nodes', run: checkNodes },
  { name: 'backups', run: checkBackups },
  { name: 'disk', run: checkDisk },
  { name: 'images', run: checkImages },
  { name: 'address pools', run: checkAddressPools },
  { name: 'inotify', run: checkInotify },
  { name: 'clock', run: checkClock },
  { name: 'mail server', run: checkMailServer },
  { name: 'mail domain', run: checkMailDomain },
  { name: 'settings', run: checkSettings },
  { name: 'service', run: checkService },
]

/** Checks of an engine on this machine. */
const ofDocker = new Set(['engine', 'host rules', 'images', 'address pools', 'inotify'])

/** In the place of those. */
const ofCluster: readonly Check[] = [
  { name: 'cluster', run: checkCluster },
  { name: 'rights', run: checkRights },
  { name: 'policies', run: checkPolicies },
  { name: 'storage', run: checkStorage },
  { name: 'quotas', run: checkQuotas },
]

/** The checks of an installation with these settings. */
export const checksFor = ({ kubernetes }: Pick<Config, 'kubernetes'>): readonly Check[] =>
  kubernetes === null ? allChecks : [...ofCluster, ...allChecks.filter(({ name }) => !ofDocker.has(name))]
