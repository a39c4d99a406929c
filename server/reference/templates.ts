import { fieldGroups, fields } from '#/templates/fields.ts'
import { code, page, table, withLink } from './markdown.ts'

const introduction = `A template describes one container type. \`CONTAINER_TEMPLATES\` or the file \`CONTAINER_TEMPLATES_FILE\` holds a map of type to template as JSON or YAML. The first type is the default type: sign-up starts it, and \`POST /api/container/restart\` replaces it. A type is any text of 1 to 100 characters; an unknown field is an error at start.

\`\`\`yaml
dev:
  display_name: Development
  image: registry.example.org/workspace:2026
  port: 8080
  memory: 1g
\`\`\``

const traffic =
  '**Traffic** is bytes in either direction: requests, answers and WebSocket messages. An open connection without bytes, and WebSocket pings, are not traffic. Idle times count from the last byte, the last start of the container, or the start of Berth, whichever is latest. A minute before a container is stopped (a quarter of the idle time if that is shorter) the open pages of its owner show a warning.'

const variables = `Every container has these environment variables, beside those of \`env\`, \`secrets\` and \`parameters\`, which do not replace them. None of the following is a secret: every process of the container can read them.

${table(
  ['variable', 'value'],
  [
    [code('PORT'), 'Port on which the application has to listen.'],
    [code('BASE_PATH'), 'Path of the container, `/{slug}-{type}`; empty with `CONTAINER_ROUTING=subdomain`.'],
    [code('BERTH_PUBLIC_URL'), 'Address at which browsers reach the container, without a slash at its end.'],
    [
      code('BERTH_AUDIENCE'),
      "With `CONTAINER_ROUTING=subdomain` alone: the claim `aud` of visitors' tokens, `/{slug}-{type}`. Otherwise the claim is `BASE_PATH`.",
    ],
    [code('BERTH_USER'), 'Slug of the owner.'],
    [code('BERTH_EMAIL'), 'E-mail address of the owner.'],
    [code('BERTH_JWKS'), "Keys that verify visitors' tokens, as they were at the creation of the container (JSON)."],
    [code('BERTH_JWKS_URL'), 'Address of the current keys.'],
  ],
)}

An application verifies the tokens as in [identify visitors](../how-to/identify-visitors.md).`

/** docs/reference/templates.md */
export function templatesPage(): string {
  const sections = Object.entries(fieldGroups).map(([title, group]) => {
    const rows = Object.keys(group).map((name) => {
      const { values = '', default: value, usually, text = '', see } = fields.get(name) ?? {}
      return [code(name), values, usually ?? code(JSON.stringify(value)), withLink(text, see)]
    })
    const more = title === 'Idle containers' ? `\n\n${traffic}` : ''
    return `## ${title}\n\n${table(['field', 'value', 'default', 'meaning'], rows)}${more}`
  })
  return page(
    'Template fields',
    'server/src/templates/fields.ts',
    introduction,
    ...sections,
    '## Variables of each container',
    variables,
  )
}
