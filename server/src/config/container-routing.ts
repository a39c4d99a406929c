import { isIP } from 'node:net'
import type { TemplateProblem } from '#/templates/read-templates.ts'
import type { Template } from '#/templates/template.ts'
import { isContainerLabel, isLabelEnd, maxHostName, maxLabelEnd } from '@berth/gateway/basics/host-label.ts'
import type { Config } from './config.ts'

/** How containers are addressed: by the first segment of a path, or by a host of their own. */
export type ContainerRouting = 'path' | 'subdomain'

/** Why these settings cannot give each container a host of its own; each a sentence that names its variable. */
export function subdomainProblems({ baseDomain, spawnerSubdomain, frontendUrl, templates }: Config): string[] {
  const host = platformNameIn(baseDomain, spawnerSubdomain)
  const front = frontendUrl === null ? null : new URL(frontendUrl).hostname
  const label = front?.endsWith(`.${host}`) ? front.slice(0, -host.length - 1) : ''
  return [
    ...(isAddress(host)
      ? ['CONTAINER_ROUTING=subdomain: BASE_DOMAIN must be a name, because an address has no subdomains']
      : []),
    ...(host.length + maxLabelAndDot > maxHostName
      ? [`CONTAINER_ROUTING=subdomain: ${host} is too long: at most ${maxHostName - maxLabelAndDot} characters`]
      : []),
    ...(isContainerLabel(label)
      ? [`FRONTEND_URL: ${front} has the form of a container's host, which CONTAINER_ROUTING=subdomain reserves`]
      : []),
    ...hostLabelProblems(templates.all()).map(({ problem }) => problem),
  ]
}

/** Why containers of these templates cannot have hosts of their own. */
export function hostLabelProblems(templates: readonly Template[]): TemplateProblem[] {
  return templates.flatMap(({ type, forwardToken }) => {
    const problems = [
      ...(isLabelEnd(type)
        ? []
        : [
            `the container type "${type}" cannot stand in a host name: at most ${maxLabelEnd} lower-case letters, digits and hyphens, with no hyphen at its beginning or end`,
          ]),
      ...(forwardToken === 'full'
        ? [
            `forward_token: full of the container type "${type}": the token of a sign-in never reaches the host of a container; leave it out`,
          ]
        : []),
    ]
    return problems.map((problem) => ({ type, problem: `CONTAINER_ROUTING=subdomain: ${problem}` }))
  })
}

/** A label has at most 63 octets. */
const maxLabelAndDot = 64

/** Name of the spawner host, without a port. */
export function platformNameIn(baseDomain: string | null, spawnerSubdomain: string): string {
  const base = (baseDomain ?? 'berth.localhost').replace(/:\d+$/, '')
  return spawnerSubdomain === '' ? base : `${spawnerSubdomain}.${base}`
}

const isAddress = (host: string) => host.endsWith(']') || isIP(host) !== 0 || /\.\d+$/.test(host)
