import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { Engine } from '../../infra/engine/engine.ts';
import { stickyEngine } from '../../infra/engine/stickyEngine.ts';
import type { EventLog } from '../../infra/log/eventLog.ts';
import type { Model } from '../../infra/model/model.ts';
import type { CrashPoint } from '../../infra/process/crashPoint.ts';
import { EspalierError } from '../../schemas/errors.ts';
import type { RolloutSealed } from '../../schemas/generated/events.ts';
import type { RolloutClaims } from '../../schemas/rolloutToken.ts';
import { newCounters } from './delivery/callCounters.ts';
import { createCallDesk } from './delivery/callDesk.ts';
import { controlListener } from './http/controlListener.ts';
import { modelListener } from './http/modelListener.ts';

const defaultKeepAliveMs = 8_000;
const defaultMaxInFlight = 512;
const defaultIdleMs = 600_000;
// Longer than any client keeps an idle connection, so that the client is the one to close it.
const connectionIdleMs = 120_000;

/** What a proxy is made of. */
export interface ProxyOptions {
  readonly log: EventLog;
  readonly model: Model;
  /** Replicas of one policy. */
  readonly engines: readonly Engine[];
  /** Signs rollout tokens; the first is current, others are still accepted. */
  readonly secret: string | readonly string[];
  /** Pinned by the run for every call. */
  readonly sampling: { readonly temperature: number; readonly maxTokens: number };
  /** Most tokens of prompt and reply together; default: what the model directory says. */
  readonly maxContext?: number;
  /** 0 or absent: any free port. */
  readonly modelPort?: number;
  readonly controlPort?: number;
  /** Address to listen on, default loopback. */
  readonly host?: string;
  readonly controlCredential: string;
  readonly logger: Logger;
  readonly crashPoint?: CrashPoint;
  /** At most 10 s: clients give up on silent streams. */
  readonly keepAliveMs?: number;
  readonly maxInFlight?: number;
  /** A rollout unused for so long is dropped from memory; the log has it. */
  readonly idleMs?: number;
}

/** A running proxy. */
export interface ServingProxy {
  /** Base URL without `/v1`. */
  readonly modelUrl: string;
  readonly controlUrl: string;
  /**
   * Ends a rollout attempt whose harness is dead: refuses further calls, aborts running ones, and
   * appends RolloutSealed with what the log holds. Idempotent: the first seal is returned again.
   */
  seal(claims: RolloutClaims): Promise<RolloutSealed>;
  /** Calls running now. */
  readonly inFlight: number;
  close(): Promise<void>;
}

/**
 * Starts the proxy: the harnesses' model endpoint.
 * @throws EspalierError E_PORT_IN_USE
 */
export async function startProxy(options: ProxyOptions): Promise<ServingProxy> {
  const { log, model, logger, host = '127.0.0.1', idleMs = defaultIdleMs } = options;
  const secrets = typeof options.secret === 'string' ? [options.secret] : options.secret;
  const engine = stickyEngine(options.engines);
  const counters = newCounters();
  const desk = createCallDesk(
    {
      log,
      model,
      engine,
      sampling: options.sampling,
      maxContext: options.maxContext ?? model.maxContext,
      logger,
      counters,
      crashPoint: options.crashPoint ?? (() => undefined),
    },
    { maxInFlight: options.maxInFlight ?? defaultMaxInFlight },
  );
  const keepAliveMs = options.keepAliveMs ?? defaultKeepAliveMs;
  const models = await listen(modelListener({ desk, secrets, keepAliveMs, logger }), host, options.modelPort);
  const controls = await listen(
    controlListener({ desk, engine, counters, credential: options.controlCredential, secrets, logger }),
    host,
    options.controlPort,
  ).catch(async (error: unknown) => {
    await stop(models);
    throw error;
  });
  const sweep = setInterval(() => desk.releaseIdle(Date.now() - idleMs), Math.min(idleMs, 60_000));
  sweep.unref();
  return {
    modelUrl: urlOf(models, host),
    controlUrl: urlOf(controls, host),
    seal: (claims) => desk.seal(claims),
    get inFlight() {
      return desk.inFlight;
    },
    async close() {
      clearInterval(sweep);
      await desk.close();
      await Promise.all([stop(models), stop(controls)]);
    },
  };
}

async function listen(listener: RequestListener, host: string, port = 0): Promise<Server> {
  const server = createServer({ keepAliveTimeout: connectionIdleMs }, listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      reject(taken ? new EspalierError('E_PORT_IN_USE', `port ${port} is in use`) : error);
    });
    server.listen(port, host, resolve);
  });
  return server;
}

function urlOf(server: Server, host: string): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
