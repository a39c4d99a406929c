import type { TypeRules } from '#/gateway/gateway-settings.ts'
import type { Templates } from './template.ts'

/** What the gateway has to know of the templates, by type as it stands in paths, in the configured order. */
export function typeRules(templates: Templates): Record<string, TypeRules> {
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
            ...(readyPath === null ? {} : { readyPath }),
          },
        ],
      ),
  )
}
