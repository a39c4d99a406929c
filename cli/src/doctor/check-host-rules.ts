import { settingFix, type CheckContext, type Finding } from './check.ts'

const guide = 'docs/how-to/set-host-rules.md'

/**
 * Whether rules keep containers away from the host, from each other and from the cloud's metadata. The running service
 * knows; without one this process looks, which needs the same rights.
 */
export async function checkHostRules({ config, service, engine }: CheckContext): Promise<Finding[]> {
  if (config.hostRules === 'off') {
    const isSet = await engine.hostRules().then(
      ({ areSet }) => areSet,
      () => false,
    )
    return isSet ? [] : [switchedOff]
  }
  if (service !== null && typeof service === 'object' && service.host.rules !== 'not known')
    return service.host.rules === 'set' ? [] : [missing(service.host.rules.replace(/^not set: /, ''))]
  const rules = await engine.hostRules()
  if (rules.areSet) return []
  if (service === null)
    return [{ ...missing(rules.reason), fix: 'start Berth as root or with CAP_NET_ADMIN: it sets them' }]
  return [missing(rules.reason)]
}

const switchedOff: Finding = {
  level: 'warning',
  what: 'HOST_RULES=off: unless you have set them yourself, containers reach services of this host and its cloud metadata.',
  fix: `${settingFix('HOST_RULES=auto')}; or set them yourself (${guide}) and check them by: berth doctor attack`,
}

const missing = (reason: string): Finding => ({
  level: 'critical',
  what: `The rules of the host are not set (${reason}): containers reach services of this host and its cloud metadata.`,
  fix: `give Berth CAP_NET_ADMIN (systemd: AmbientCapabilities=CAP_NET_ADMIN), or set them yourself: ${guide}`,
})
