import { settingFix, type CheckContext, type Finding } from './check.ts'
import { findings as texts } from '@berth/texts/en/findings.ts'

/** Whether a reverse proxy in front is named, so that each client counts by its own address. */
export async function checkProxy({ warnings, service }: CheckContext): Promise<Finding[]> {
  const has = (key: string) => warnings.some((each) => each.key === key)
  const seen = service !== null && typeof service === 'object' ? service.warnings.filter(isAboutProxies) : []
  return [
    ...(has('findings.anyTrustedProxy') ? [anyAddress] : []),
    ...seen.map((what): Finding => ({
      level: 'warning',
      what,
      fix: `with the address of the proxy: ${settingFix('TRUSTED_PROXIES=127.0.0.1')}`,
    })),
    ...(has('findings.noTrustedProxy') && seen.length === 0 ? [unnamed] : []),
  ]
}

/** Begin of what the service says of requests with forwarding headers; it is asked in English. */
const [start = ''] = texts.untrustedProxy.split('{')

/** Whether a warning of the service is one of this check. */
export const isAboutProxies = (warning: string) => warning.startsWith(start)

const anyAddress: Finding = {
  level: 'critical',
  what: 'TRUSTED_PROXIES trusts every address, so that each client chooses the address that limits and the audit log see.',
  fix: `with the address of the proxy alone: ${settingFix('TRUSTED_PROXIES=127.0.0.1')}`,
}

const unnamed: Finding = {
  level: 'warning',
  what: 'PREFERRED_URL_SCHEME=https without a certificate in Berth means a proxy in front, but TRUSTED_PROXIES names none: all clients count as one.',
  fix: `with the address of the proxy: ${settingFix('TRUSTED_PROXIES=127.0.0.1')}`,
}
