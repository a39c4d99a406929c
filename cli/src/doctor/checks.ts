import type { Config } from '@berth/server/config/config.ts'
import type { Check } from './check.ts'
import { checkCluster } from './check-cluster.ts'
import { checkPolicies } from './check-policies.ts'
import { checkQuotas } from './check-quotas.ts'
import { checkRights } from './check-rights.ts'
import { checkStorage } from './check-storage.ts'
import { checkBackups } from './check-backups.ts'
import { checkNodes } from './check-nodes.ts'
import { checkService } from './check-service.ts'
import { checkSettings } from './check-settings.ts'
import { checkStoreAnswers } from './check-store-answers.ts'
import { checkAddressPools } from './check-address-pools.ts'
import { checkClock } from './check-clock.ts'
import { checkDisk } from './check-disk.ts'
import { checkEngine } from './check-engine.ts'
import { checkHostRules } from './check-host-rules.ts'
import { checkImages } from './check-images.ts'
import { checkInotify } from './check-inotify.ts'
import { checkContainerHosts } from './check-container-hosts.ts'
import { checkCookieDomain } from './check-cookie-domain.ts'
import { checkDns } from './check-dns.ts'
import { checkMailDomain } from './check-mail-domain.ts'
import { checkMailServer } from './check-mail-server.ts'
import { checkPorts } from './check-ports.ts'
import { checkProxy } from './check-proxy.ts'
import { checkTls } from './check-tls.ts'

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
