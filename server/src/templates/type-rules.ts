import type { TypeRules } from '@berth/gateway/port/gateway-settings.ts'
import type { Templates } from './template.ts'

const ownHost = { hasOwnHost: true, stripPrefix: true, rewriteLocation: false, sandboxVisitors: false } as const

/**
 * What the gateway has to know of the templates, by type as it stands in paths, in the configured order.
 * @param hasOwnHost subdomain routing: an app sees all paths as they are, and its pages share their origin with no others,
 *   so that visitors need no sandbox
 */
export function typeRules(templates: Templates, hasOwnHost = false): Record<string, TypeRules> {
  return Object.fromEntries(
    templates
      .all()
      .map(
        ({
          type,
          displayName,
          access,
          sandboxVisitors,
          stripPrefix,
          readyPath,
          rewriteLocation,
          forwardToken,
          allowHeaders,
        }) => [
          encodeURIComponent(type),
          {
            displayName,
            access,
            sandboxVisitors,
            stripPrefix,
            rewriteLocation,
            forwardToken,
            allowHeaders,
            ...(hasOwnHost ? ownHost : {}),
            ...(readyPath === null ? {} : { readyPath }),
          },
        ],
      ),
  )
}
