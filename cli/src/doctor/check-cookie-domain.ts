import { isIP } from 'node:net'
import { parse } from 'tldts'
import { settingFix, type CheckContext, type Finding } from './check.ts'

/**
 * Whether browsers keep the cookie of a sign-in: they drop one whose `Domain` is a public suffix, except for a host of
 * that very name (RFC 6265, 5.3, step 5). With the list of publicsuffix.org, private part included, as browsers do.
 */
export async function checkCookieDomain({ config, addresses }: CheckContext): Promise<Finding[]> {
  const { cookieDomain } = addresses
  if (isIP(cookieDomain) !== 0 || /(^|\.)localhost$/.test(cookieDomain)) return []
  const { publicSuffix, isIcann, isPrivate } = parse(cookieDomain, { allowPrivateDomains: true })
  if (publicSuffix !== cookieDomain) return []
  const isListed = isIcann === true || isPrivate === true
  const name = isListed ? 'a public suffix' : 'a name without a dot, which browsers treat as a public suffix'
  if (config.spawnerSubdomain === '') return isListed ? [sharedSuffix(cookieDomain)] : []
  return [
    {
      level: 'critical',
      what: `BASE_DOMAIN=${cookieDomain} is ${name}: browsers drop the cookie of a sign-in, so users cannot stay signed in.`,
      fix: settingFix(`BASE_DOMAIN=berth.${cookieDomain}`),
    },
  ]
}

const sharedSuffix = (domain: string): Finding => ({
  level: 'hint',
  what: `${domain} is a public suffix: its subdomains belong to others, and the cookie is kept for this host alone.`,
  fix: settingFix(`BASE_DOMAIN=berth.${domain}`),
})
