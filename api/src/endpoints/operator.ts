import { endpoint, type Endpoint } from '../endpoint.ts'
import * as admin from '../schemas/administration/admin.ts'
import { PersonalDataResponse } from '../schemas/personal-data.ts'
import * as auth from '../schemas/auth.ts'
import * as operator from '../schemas/administration/operator.ts'
import * as tokens from '../schemas/api-tokens.ts'
import { ErrorBody } from '../schemas/error.ts'

/** Actions of the operator, on the operator's socket only. */
export const operatorEndpoints = {
  rotateKeys: endpoint('POST /api/operator/keys/rotate', 'operator', {
    summary: 'Sign tokens with a new key; tokens of the old key stay valid until they expire',
    response: operator.KeysRotated,
    refusals: { 409: ErrorBody },
  }),
  printLink: endpoint('POST /api/operator/links', 'operator', {
    summary: 'Issue a login or signup link without mailing it',
    body: auth.EmailBody,
    response: operator.PrintedLink,
    refusals: { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody },
  }),
  createApiTokenFor: endpoint('POST /api/operator/tokens', 'operator', {
    summary: 'Make an API token for an account; the answer is the only place that shows it',
    body: tokens.OperatorApiTokenBody,
    response: tokens.CreatedApiToken,
    refusals: { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody, 409: ErrorBody },
  }),
  exportUserData: endpoint('GET /api/operator/users/{id}/data', 'operator', {
    summary: 'Everything that is kept about a user',
    params: admin.IdParams,
    response: PersonalDataResponse,
    refusals: { 404: ErrorBody, 429: ErrorBody },
  }),
} as const satisfies Record<string, Endpoint>
