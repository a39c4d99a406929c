import { providerFields } from '#/accounts/oidc/provider-descriptions.ts'
import { code, page, table } from './markdown.ts'

const introduction = `The file \`OIDC_PROVIDERS_FILE\` holds a map of provider id to provider as YAML or JSON, 1 to 20 of them, in the order of the login page. An id has 1 to 32 characters: \`a-z\`, \`0-9\` and, inside, hyphens. It is part of the redirect address that is entered at the provider: \`{FRONTEND_URL}/api/auth/oidc/{id}/callback\`. An unknown field is an error at start. [How to set it up](../how-to/sign-in-with-openid-connect.md).

\`\`\`yaml
school:
  display_name: School account
  issuer: https://login.example.org/realms/school
  client_id: berth
  client_secret_file: /etc/berth/school-secret
\`\`\``

/** docs/reference/openid-providers.md */
export function openidProvidersPage(): string {
  const rows = Object.entries(providerFields).map(([name, field]) => [
    code(name),
    field.form,
    'default' in field ? field.default : 'required',
    field.text,
  ])
  const fields = table(['field', 'value', 'default', 'meaning'], rows)
  return page('OpenID Connect providers', 'server/src/accounts/oidc/provider-descriptions.ts', introduction, fields)
}
