import { endpoint, type Endpoint } from '../endpoint.ts'
import * as admin from '../schemas/administration/admin.ts'
import * as audit from '../schemas/administration/audit.ts'
import * as usage from '../schemas/administration/usage.ts'
import { Message } from '../schemas/shapes.ts'
import { TypeParams } from '../schemas/container.ts'
import { ErrorBody } from '../schemas/error.ts'

/** State of the installation and audit log, for administrators. */
export const adminSystemEndpoints = {
  systemReport: endpoint('GET /api/admin/system', 'admin:read', {
    summary: 'State of reconciler, launch queue, host and mail, with warnings',
    response: admin.SystemReport,
    refusals: {},
  }),
  systemHistory: endpoint('GET /api/admin/history', 'admin:read', {
    summary: 'Samples of the last day: containers, launches, free memory and disk',
    response: admin.HistoryResponse,
    refusals: {},
  }),
  usage: endpoint('GET /api/admin/usage', 'admin:read', {
    summary: 'Sums of use: hours running and in use, cores, memory, and what an idle stop would have saved',
    query: usage.UsageQuery,
    response: usage.UsageResponse,
    refusals: { 400: ErrorBody },
  }),
  listTemplates: endpoint('GET /api/admin/templates', 'admin:read', {
    summary: 'Templates with their versions, and who runs a container of an older one',
    response: admin.TemplatesResponse,
    refusals: {},
  }),
  updateContainersOf: endpoint('POST /api/admin/templates/{container_type}/update', 'admin:write', {
    summary: 'Bring containers of an older version of a template up to date',
    params: TypeParams,
    body: admin.UpdateContainersBody,
    response: Message,
    refusals: { 400: ErrorBody },
  }),
  reloadTemplates: endpoint('POST /api/admin/templates/reload', 'admin:write', {
    summary: 'Read the file of templates again; all are checked before any counts, and what runs keeps running',
    response: Message,
    refusals: { 400: ErrorBody, 409: ErrorBody },
  }),
  listAudit: endpoint('GET /api/admin/audit', 'admin:read', {
    anyNode: true,
    summary: 'Audit log, newest first, page by page',
    query: audit.AuditQuery,
    response: audit.AuditResponse,
    refusals: { 400: ErrorBody },
  }),
  verifyAudit: endpoint('GET /api/admin/audit/verify', 'admin:read', {
    summary: 'Verify the audit log, and that it still contains an earlier head',
    query: audit.AuditVerifyQuery,
    response: audit.AuditVerdict,
    refusals: { 400: ErrorBody, 503: ErrorBody },
    head: false,
  }),
} as const satisfies Record<string, Endpoint>
