import type { Area } from './area';
import fs = require("fs");
/** A shape. */
export interface Shape<T> extends Base, Other<T> {
  area(): number;
  /** Around it. */
  perimeter?(x: string): void;
  sides: number
}
export type Id = string | number;
export enum Color { Red, Green }
/** Parses. */
export function parse(a: string): string;
export function parse(a: number): number;
export function parse(a: any): any { return a ?? 1; }
export abstract class Animal<T> extends Being implements Shape<number> {
  private secret(): void {}
  abstract speak(): void;
  @Input() name: string;
  @HostListener('click', ['$event'])
  onClick(e: Event) { this.secret(); }
  handler = async (x: number): Promise<void> => { await x; };
}
namespace Util.Deep { export function help() {} }
declare module "foo" { export function ext(): void; }
declare function global(x: number): string;
export default function () { return 1; }
