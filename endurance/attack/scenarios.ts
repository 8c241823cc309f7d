import { compressedVersions, manyCompressedVersions } from './compressed-versions.ts';
import { longFields, manyFields } from './heads.ts';
import { withoutToken, withToken } from './one-byte-chunks.ts';
import { pipelinedRequests } from './pipelined-requests.ts';
import type { Scenario } from './scenario.ts';
import { unreadLists } from './unread-lists.ts';

export const SCENARIOS: readonly Scenario[] = [
  withoutToken,
  withToken,
  pipelinedRequests,
  unreadLists,
  compressedVersions,
  manyCompressedVersions,
  manyFields,
  longFields,
];
